# SPDX-License-Identifier: Apache-2.0
"""Completes the digits vectors with labels.

The vectors, written by lowering, are the held-out images as the artefact takes them and the
reference's bit-exact outputs. A board that classifies them can be compared with both.
"""

import numpy as np
from absl import app, flags

from aot.models.digits.model import evaluation

_VECTORS = flags.DEFINE_string("vectors", None, "The .npz that lowering wrote.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "The .npz to write.", required=True)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    _, labels = evaluation()
    with np.load(_VECTORS.value) as file:
        arrays = dict(file.items())
    # numpy writes no time stamps into an .npz: the same arrays give the same bytes.
    np.savez(_OUTPUT.value, labels=labels.numpy().astype(np.uint16), **arrays)


if __name__ == "__main__":
    app.run(main)
