# SPDX-License-Identifier: Apache-2.0
"""A U-Net with transposed convolutions: image [1, 3, 32, 32] in [0, 1] to the logits of 2 classes
for each pixel.
"""

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import images, one_by_one, seed_weights
from aot.models.zoo.blocks import conv

SIZE = 32
WIDTHS = (8, 16, 32)


def twice(inputs: int, outputs: int) -> nn.Sequential:
    """Return two convolutions, as on each level of the U."""
    return nn.Sequential(conv(inputs, outputs, 3), conv(outputs, outputs, 3))


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        levels = list(zip((3, *WIDTHS), WIDTHS, strict=False))
        self.down = nn.ModuleList(twice(*level) for level in levels)
        self.pool = nn.MaxPool2d(2)
        ways_up = list(zip(WIDTHS, WIDTHS[1:], strict=False))[::-1]
        self.up = nn.ModuleList(nn.ConvTranspose2d(low, high, 2, 2) for high, low in ways_up)
        self.joined = nn.ModuleList(twice(2 * high, high) for high, _ in ways_up)
        self.head = nn.Conv2d(WIDTHS[0], 2, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.down[0](image)
        kept = []
        for level in self.down[1:]:
            kept.append(x)
            x = level(self.pool(x))
        for up, joined in zip(self.up, self.joined, strict=True):
            x = joined(torch.cat([kept.pop(), up(x)], dim=1))
        logits: torch.Tensor = self.head(x)
        return logits


def factory() -> nn.Module:
    return seed_weights(UNet(), images(16, SIZE, seed=0), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(32, SIZE, seed=1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(4, SIZE, seed=2))
