# SPDX-License-Identifier: Apache-2.0
"""Trains the digits network and writes its weights: the same bytes on every run.

train --output=weights.npz
"""

import time
from pathlib import Path

import numpy as np
import torch
from absl import app, flags, logging
from torch import nn
from torch.nn import functional

from aot.models.digits.model import Digits, data
from aot.models.training import serialize, trained

_OUTPUT = flags.DEFINE_string("output", None, "The .npz file to write.", required=True)


def shifted(images: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """Return each image moved by -1, 0 or 1 pixel in each direction, zeros shifted in."""
    padded = functional.pad(images, (1, 1, 1, 1))
    offsets = rng.integers(0, 3, size=(len(images), 2))
    return torch.stack(
        [image[:, y : y + 8, x : x + 8] for image, (y, x) in zip(padded, offsets, strict=True)]
    )


def train() -> nn.Module:
    """Return the trained network, float32 and in eval mode."""
    images, _, labels, _ = data()
    return trained(Digits, images, labels, augment=shifted)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    start = time.monotonic()
    Path(_OUTPUT.value).write_bytes(serialize(train()))
    logging.info("trained in %.1f s: %s", time.monotonic() - start, _OUTPUT.value)


if __name__ == "__main__":
    app.run(main)
