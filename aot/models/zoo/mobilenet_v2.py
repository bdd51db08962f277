# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2 at full width: image [1, 3, 96, 96] in [0, 1] to 1000 logits."""

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import images, one_by_one, seed_weights
from aot.models.zoo.blocks import InvertedResidual, conv

SIZE = 96
# Widening, output channels, blocks, stride of the first.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


class MobileNetV2(nn.Sequential):
    def __init__(self) -> None:
        channels = 32
        layers: list[nn.Module] = [conv(3, channels, 3, stride=2, activation=nn.ReLU6)]
        for widening, outputs, blocks, stride in STAGES:
            for index in range(blocks):
                step = stride if index == 0 else 1
                layers.append(InvertedResidual(channels, channels * widening, outputs, 3, step))
                channels = outputs
        layers += [conv(channels, 1280, 1, activation=nn.ReLU6)]
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


def factory() -> nn.Module:
    return seed_weights(MobileNetV2(), images(16, SIZE, seed=0), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(32, SIZE, seed=1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(4, SIZE, seed=2))
