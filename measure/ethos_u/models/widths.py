# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2 of any width: channels are multiples of 8, but those of the last convolution."""

from __future__ import annotations

from torch import nn

from aot.models.zoo.blocks import InvertedResidual, conv
from aot.models.zoo.mobilenet_v2 import STAGES

_STEP = 8
_KEPT = 0.9  # of the channels, at least


def channels_of(width: float, channels: int) -> int:
    """Return the multiple of 8 nearest to width * channels, at least nine tenths of it."""
    wanted = width * channels
    nearest = max(_STEP, int(wanted + _STEP / 2) // _STEP * _STEP)
    return nearest + _STEP if nearest < _KEPT * wanted else nearest


class MobileNetV2(nn.Sequential):
    def __init__(self, width: float, features: int = 1280, classes: int = 1000) -> None:
        channels = channels_of(width, 32)
        layers: list[nn.Module] = [conv(3, channels, 3, stride=2, activation=nn.ReLU6)]
        for widening, outputs, blocks, stride in STAGES:
            kept = channels_of(width, outputs)
            for index in range(blocks):
                step = stride if index == 0 else 1
                layers.append(InvertedResidual(channels, channels * widening, kept, 3, step))
                channels = kept
        layers += [conv(channels, features, 1, activation=nn.ReLU6), nn.AdaptiveAvgPool2d(1)]
        super().__init__(*layers, nn.Flatten(), nn.Linear(features, classes))
