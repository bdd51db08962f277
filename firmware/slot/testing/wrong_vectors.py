# SPDX-License-Identifier: Apache-2.0
"""Changes the outputs of an .npz of vectors, for a self-test that fails: FILE.npz OUTPUT.npz."""

import sys

import numpy as np


def main() -> None:
    with np.load(sys.argv[1]) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["output_0"] = arrays["output_0"] ^ arrays["output_0"].dtype.type(1)
    np.savez(sys.argv[2], **arrays)


if __name__ == "__main__":
    main()
