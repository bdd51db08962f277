# SPDX-License-Identifier: Apache-2.0
"""Trains a network of this folder on the digits.

train --model=vit --output=vit.npz
"""

import importlib
from pathlib import Path

from absl import app, flags

from aot.models.training import serialize
from aot.models.zoo.on_digits import Trained

_MODEL = flags.DEFINE_string("model", None, "Name of the model's file.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "The .npz file to write.", required=True)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    model = importlib.import_module(f"aot.models.zoo.{_MODEL.value}").MODEL
    assert isinstance(model, Trained)
    Path(_OUTPUT.value).write_bytes(serialize(model.trained()))


if __name__ == "__main__":
    app.run(main)
