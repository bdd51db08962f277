# SPDX-License-Identifier: Apache-2.0
"""Networks with layers that have equal forms: upsampling, thin inputs, dilation, PReLU."""

from __future__ import annotations

from importlib import import_module

import torch
from torch import nn

from measure.ethos_u.cases import CASES, NpuCase


def _conv(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1
) -> list[nn.Module]:
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups), nn.ReLU()]


def _generator() -> nn.Module:
    layers: list[nn.Module] = []
    for inputs in (64, 32, 16):
        layers += [nn.ConvTranspose2d(inputs, inputs // 2, 4, 2, 1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(8, 1, 3, padding=1))


def _eegnet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 8, (1, 63), padding=(0, 31), bias=False),
        nn.Conv2d(8, 16, (22, 1), groups=8),
        nn.ELU(),
        nn.AvgPool2d((1, 4)),
        nn.Conv2d(16, 16, (1, 15), padding=(0, 7), groups=16),
        nn.Conv2d(16, 16, 1),
        nn.ELU(),
        nn.AvgPool2d((1, 8)),
        nn.Flatten(),
        nn.Linear(16 * 16, 4),
    )


class _Segmentation(nn.Module):
    """Encoder, and bilinear upsampling twice, with a skip."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(*_conv(3, 16, 3, 2), *_conv(16, 32, 3, 2))
        self.second = nn.Sequential(*_conv(32, 64, 3, 2), nn.Conv2d(64, 32, 1))
        self.skip, self.out = nn.Conv2d(32, 32, 1), nn.Conv2d(32, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skip = self.first(x)
        y = nn.functional.interpolate(self.second(skip), scale_factor=2.0, mode="bilinear")
        y = self.out(torch.relu(y + self.skip(skip)))
        return nn.functional.interpolate(y, scale_factor=2.0, mode="bilinear")


def _face() -> nn.Module:
    def separable(inputs: int, outputs: int, stride: int) -> list[nn.Module]:
        depthwise = nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs)
        return [depthwise, nn.PReLU(inputs), nn.Conv2d(inputs, outputs, 1), nn.PReLU(outputs)]

    return nn.Sequential(
        nn.Conv2d(3, 16, 3, 2, 1),
        nn.PReLU(16),
        *separable(16, 32, 1),
        *separable(32, 64, 2),
        *separable(64, 64, 2),
        nn.Conv2d(64, 64, 7, groups=64),
        nn.Flatten(),
        nn.Linear(64, 64),
    )


class _WaveNet(nn.Module):
    """Dilated, residual convolutions of a line."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv1d(1, 32, 5, padding=2), nn.Conv1d(32, 4, 1)
        steps = (1, 2, 4, 8, 16, 32)
        self.middle = nn.ModuleList(nn.Conv1d(32, 32, 3, padding=d, dilation=d) for d in steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(x))
        for layer in self.middle:
            x = x + torch.relu(layer(x))
        y: torch.Tensor = self.last(x)
        return y


def _zoo(name: str) -> NpuCase:
    module = import_module(f"aot.models.zoo.{name}")
    return NpuCase(module.factory, given=module.calibration)


NETWORKS: dict[str, NpuCase] = {
    "generator 8 to 64": NpuCase(_generator, (1, 64, 8, 8)),
    "eegnet 22x512": NpuCase(_eegnet, (1, 1, 22, 512)),
    "segmentation 64": NpuCase(_Segmentation, (1, 3, 64, 64)),
    "prelu face 56": NpuCase(_face, (1, 3, 56, 56)),
    "wavenet 256": NpuCase(_WaveNet, (1, 1, 256)),
    "zoo unet": _zoo("unet"),
    "zoo yolo": _zoo("yolo"),
    "zoo ssd": _zoo("ssd"),
    **CASES,
}
