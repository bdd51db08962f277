# SPDX-License-Identifier: Apache-2.0
"""Completes the digits vectors with labels and says how accurate the network is on the host.

The vectors, written by lowering, are the held-out images as the artefact takes them and the
reference's bit-exact outputs. A board that classifies them can be compared with both.
"""

import json
from pathlib import Path

import numpy as np
import torch
from absl import app, flags

from aot.models.digits.model import evaluation, factory

_VECTORS = flags.DEFINE_string("vectors", None, "The .npz that lowering wrote.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "The .npz to write.", required=True)
_ACCURACY = flags.DEFINE_string("accuracy", None, "The .json to write.", required=True)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    torch.set_num_threads(1)
    images, labels = evaluation()
    with np.load(_VECTORS.value) as file:
        arrays = dict(file.items())
    outputs = arrays["output_0"].reshape(len(labels), -1)
    with torch.no_grad():
        predictions = factory()(images).argmax(dim=1)
    # Rows of the table that an image's .sim ends with (boards/image/sim.py).
    accuracy = {
        "accuracy in float32": (predictions == labels).double().mean().item(),
        "accuracy in int8, on the host": float(np.mean(outputs.argmax(axis=1) == labels.numpy())),
    }
    # numpy writes no time stamps into an .npz: the same arrays give the same bytes.
    np.savez(_OUTPUT.value, labels=labels.numpy().astype(np.uint16), **arrays)
    Path(_ACCURACY.value).write_text(json.dumps(accuracy, indent=1) + "\n")


if __name__ == "__main__":
    app.run(main)
