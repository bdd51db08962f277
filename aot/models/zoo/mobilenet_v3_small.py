# SPDX-License-Identifier: Apache-2.0
"""MobileNetV3-small, with squeeze and excitation and hardswish: image [1, 3, 96, 96] in [0, 1] to
1000 logits.
"""

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import images, one_by_one, seed_weights
from aot.models.zoo.blocks import InvertedResidual, conv

SIZE = 96
# Kernel, inner channels, output channels, True with squeeze, activation, stride.
BLOCKS = (
    (3, 16, 16, True, nn.ReLU, 2),
    (3, 72, 24, False, nn.ReLU, 2),
    (3, 88, 24, False, nn.ReLU, 1),
    (5, 96, 40, True, nn.Hardswish, 2),
    (5, 240, 40, True, nn.Hardswish, 1),
    (5, 240, 40, True, nn.Hardswish, 1),
    (5, 120, 48, True, nn.Hardswish, 1),
    (5, 144, 48, True, nn.Hardswish, 1),
    (5, 288, 96, True, nn.Hardswish, 2),
    (5, 576, 96, True, nn.Hardswish, 1),
    (5, 576, 96, True, nn.Hardswish, 1),
)


class Squeeze(nn.Module):
    """Scales each channel by a small network's function of all channels' averages."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        inner = max(8, (channels // 4 + 4) // 8 * 8)
        self.scales = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, inner, 1),
            nn.ReLU(),
            nn.Conv2d(inner, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scaled: torch.Tensor = x * self.scales(x)
        return scaled


class MobileNetV3Small(nn.Sequential):
    def __init__(self) -> None:
        channels = 16
        layers: list[nn.Module] = [conv(3, channels, 3, stride=2, activation=nn.Hardswish)]
        for kernel, inner, outputs, squeezes, activation, stride in BLOCKS:
            squeeze = Squeeze if squeezes else None
            layers.append(
                InvertedResidual(channels, inner, outputs, kernel, stride, activation, squeeze)
            )
            channels = outputs
        layers += [conv(channels, 576, 1, activation=nn.Hardswish)]
        super().__init__(
            *layers,
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(576, 1024),
            nn.Hardswish(),
            nn.Linear(1024, 1000),
        )


def factory() -> nn.Module:
    return seed_weights(MobileNetV3Small(), images(16, SIZE, seed=0), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(32, SIZE, seed=1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(4, SIZE, seed=2))
