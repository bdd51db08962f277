# SPDX-License-Identifier: Apache-2.0
"""ConvNeXt in small: image [1, 1, 8, 8] to 10 logits."""

import torch
from torch import nn

from aot.models.zoo.on_digits import Trained

WIDTHS = (24, 48)


class Norm(nn.LayerNorm):
    """LayerNorm over the channels of [N, C, H, W]."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXtBlock(nn.Module):
    """A depthwise convolution of 7x7, and two layers for each pixel, scaled and added."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.pixels = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.scale * self.pixels(self.depthwise(x).permute(0, 2, 3, 1))
        mixed: torch.Tensor = x + y.permute(0, 3, 1, 2)
        return mixed


class ConvNeXt(nn.Sequential):
    def __init__(self) -> None:
        first, second = WIDTHS
        super().__init__(
            nn.Conv2d(1, first, 2, stride=2),
            Norm(first),
            ConvNeXtBlock(first),
            Norm(first),
            nn.Conv2d(first, second, 2, stride=2),
            ConvNeXtBlock(second),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.LayerNorm(second),
            nn.Linear(second, 10),
        )


MODEL = Trained("convnext", ConvNeXt)
factory, calibration = MODEL.factory, MODEL.calibration
evaluation, test_inputs = MODEL.evaluation, MODEL.test_inputs
