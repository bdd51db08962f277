# SPDX-License-Identifier: Apache-2.0
"""An autoencoder with LayerNorm: an image's pixels, [1, 64], through 12 numbers to [1, 64]."""

import torch
import torch.nn.functional as F
from torch import nn

from aot.models.zoo.on_digits import Trained, seen_as


def layer(inputs: int, outputs: int) -> list[nn.Module]:
    return [nn.Linear(inputs, outputs), nn.LayerNorm(outputs), nn.ReLU()]


class Autoencoder(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(
            *layer(64, 48),
            *layer(48, 32),
            nn.Linear(32, 12),
            *layer(12, 32),
            *layer(32, 48),
            nn.Linear(48, 64),
        )


def difference(module: nn.Module, pixels: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(module(pixels), pixels)


MODEL = Trained(
    "autoencoder", Autoencoder, lambda: seen_as(lambda x: x.flatten(1)), loss=difference
)
factory, calibration, test_inputs = MODEL.factory, MODEL.calibration, MODEL.test_inputs


def evaluation() -> tuple[tuple[torch.Tensor, ...], ...]:
    """Return inputs without classes: the expected output is the input."""
    return tuple(test_inputs())
