# SPDX-License-Identifier: Apache-2.0
"""ResNet-18 at three quarters of its width, so that the weights fit the board: image [1, 3, 64, 64]
in [0, 1] to 1000 logits.
"""

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import images, one_by_one, seed_weights
from aot.models.zoo.blocks import Residual, conv

SIZE = 64
WIDTH = 48


class ResNet18(nn.Sequential):
    def __init__(self) -> None:
        channels = WIDTH
        layers: list[nn.Module] = [conv(3, channels, 7, stride=2), nn.MaxPool2d(3, 2, padding=1)]
        for stage in range(4):
            outputs = WIDTH << stage
            layers += [Residual(channels, outputs, 1 if stage == 0 else 2)]
            layers += [Residual(outputs, outputs)]
            channels = outputs
        head = nn.Linear(channels, 1000)
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), head)


def factory() -> nn.Module:
    return seed_weights(ResNet18(), images(16, SIZE, seed=0), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(32, SIZE, seed=1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(4, SIZE, seed=2))
