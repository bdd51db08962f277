# SPDX-License-Identifier: Apache-2.0
"""Whole networks of the corpus."""

from __future__ import annotations

import torch
from torch import nn

_MOBILENET_V2_STAGES = (  # expansion, output channels, blocks, first stride
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def _conv_bn(inputs: int, outputs: int, kernel: int, stride: int, groups: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    )


class InvertedResidual(nn.Module):
    """Expand, filter by channel, project; adds its input where shapes agree."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = inputs * expansion
        layers: list[nn.Module] = []
        if expansion != 1:
            layers += [_conv_bn(inputs, hidden, 1, 1), nn.ReLU6()]
        layers += [_conv_bn(hidden, hidden, 3, stride, hidden), nn.ReLU6()]
        layers += [_conv_bn(hidden, outputs, 1, 1)]
        self.body = nn.Sequential(*layers)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.body(x)
        return x + y if self.residual else y


class MobileNetV2(nn.Module):
    """MobileNetV2, width 1.0: 56 M MAC for a 96x96 image, 225 M for 192x192."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        layers: list[nn.Module] = [_conv_bn(3, 32, 3, 2), nn.ReLU6()]
        channels = 32
        for expansion, outputs, blocks, stride in _MOBILENET_V2_STAGES:
            for block in range(blocks):
                step = stride if block == 0 else 1
                layers.append(InvertedResidual(channels, outputs, step, expansion))
                channels = outputs
        layers += [_conv_bn(channels, 1280, 1, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1)]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(1280, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.classifier(self.features(x).flatten(1))
        return y


class ResidualNet(nn.Module):
    """Two residual stages on a small image."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = _conv_bn(3, 16, 3, 1)
        self.first = nn.Sequential(_conv_bn(16, 16, 3, 1), nn.ReLU(), _conv_bn(16, 16, 3, 1))
        self.second = nn.Sequential(_conv_bn(16, 32, 3, 2), nn.ReLU(), _conv_bn(32, 32, 3, 1))
        self.shortcut = _conv_bn(16, 32, 1, 2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.stem(x))
        x = torch.relu(x + self.first(x))
        x = torch.relu(self.shortcut(x) + self.second(x))
        y: torch.Tensor = self.classifier(self.pool(x).flatten(1))
        return y


class UNet(nn.Module):
    """One level of encoder and decoder with a skip connection by concatenation."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.middle = nn.Conv2d(8, 16, 3, padding=1)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.head = nn.Conv2d(16, 2, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skip = torch.relu(self.down(x))
        x = torch.relu(self.middle(self.pool(skip)))
        y: torch.Tensor = self.head(torch.cat([self.up(x), skip], dim=1))
        return y


class DepthwiseSeparableNet(nn.Module):
    """Keyword-spotting style: a wide first convolution and two separable ones."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, (10, 4), (2, 2), (5, 1)),
            nn.ReLU(),
            _conv_bn(32, 32, 3, 1, 32),
            nn.ReLU(),
            _conv_bn(32, 32, 1, 1),
            nn.ReLU(),
            _conv_bn(32, 32, 3, 1, 32),
            nn.ReLU(),
            _conv_bn(32, 32, 1, 1),
            nn.ReLU(),
        )
        self.classifier = nn.Linear(32, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.classifier(self.features(x).mean(dim=(2, 3)))
        return y


class SqueezeExcite(nn.Module):
    """Channel attention with hard-swish, as MobileNetV3 has it."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(8, 24, 1)
        self.reduce = nn.Conv2d(24, 8, 1)
        self.expand = nn.Conv2d(8, 24, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.hardswish(self.conv(x))
        scale = x.mean(dim=(2, 3), keepdim=True)
        scale = nn.functional.hardsigmoid(self.expand(torch.relu(self.reduce(scale))))
        return x * scale


class SelfAttention(nn.Module):
    """One head of scaled dot-product attention with its projections."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.scale = width**-0.5

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights = torch.bmm(self.query(x), self.key(x).transpose(1, 2)) * self.scale
        return torch.bmm(torch.softmax(weights, dim=-1), self.value(x))


class LstmStep(nn.Module):
    """One time step of an LSTM, written out: input, hidden state, cell state."""

    def __init__(self, inputs: int = 8, hidden: int = 12) -> None:
        super().__init__()
        self.input = nn.Linear(inputs, 4 * hidden)
        self.hidden = nn.Linear(hidden, 4 * hidden)
        self.size = hidden

    def forward(
        self, x: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        update, forget, candidate, output = torch.split(
            self.input(x) + self.hidden(hidden), self.size, dim=1
        )
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(update) * torch.tanh(candidate)
        return torch.sigmoid(output) * torch.tanh(cell), cell
