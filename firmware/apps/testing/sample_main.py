# SPDX-License-Identifier: Apache-2.0
"""Writes a small model and vectors for tests of the apps.

All labels but the first three are the reference's own classes. A working classifier is therefore
right on all vectors but three. Of the wrong vectors, vector 2 expects another element 5.
"""

from pathlib import Path

import numpy as np
import torch
from absl import app, flags

from aot.plan.testing import Network, export_pte

COUNT = 12
WRONG_LABELS = 3
WRONG_VECTOR, WRONG_ELEMENT = 2, 5

_PTE = flags.DEFINE_string("pte", None, "The .pte to write.", required=True)
_VECTORS = flags.DEFINE_string("vectors", None, "The right .npz to write.", required=True)
_WRONG = flags.DEFINE_string("wrong_vectors", None, "The wrong .npz to write.", required=True)


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument {argv[1]!r}")
    network = Network()
    pte = export_pte(network, [network.example()], layouts=(["nchw"], ["row_major"]))
    Path(_PTE.value).write_bytes(pte)
    inputs = [network.example(seed) for seed in range(COUNT)]
    with torch.no_grad():
        outputs = np.stack([network(x).numpy() for x in inputs])
    labels = outputs.reshape(COUNT, -1).argmax(axis=1)
    labels[:WRONG_LABELS] = (labels[:WRONG_LABELS] + 1) % 10
    arrays = {"input_0": np.stack([x.numpy() for x in inputs]), "labels": labels}
    np.savez(_VECTORS.value, output_0=outputs, **arrays)
    outputs[WRONG_VECTOR, 0, WRONG_ELEMENT] ^= 1
    np.savez(_WRONG.value, output_0=outputs, **arrays)
    return 0


if __name__ == "__main__":
    app.run(main)
