# SPDX-License-Identifier: Apache-2.0
"""Small networks similar to shapes.py, with other inputs, outputs or values.

The networks of shapes.py have an image, its classes and int8. The networks here have sequences,
several images, features of several stages, state, or int16.
"""

import torch
from torch import nn
from torch.nn import functional

from aot.models import seeded
from aot.models.zoo.blocks import InvertedResidual, Residual, conv
from measure.memory.shape_inputs import images
from measure.memory.shapes import of_48, with_weights


class _Causal(nn.Module):
    """A residual block of causal dilated convolutions: they use only the past."""

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.past = 2 * dilation, 0
        self.a, self.b = (nn.Conv1d(channels, channels, 3, dilation=dilation) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.a(functional.pad(x, self.past)))
        return torch.relu(x + self.b(functional.pad(y, self.past)))


def tcn() -> nn.Module:
    """Return a network with a sequence as output."""
    layers = [nn.Conv1d(16, 24, 1), *(_Causal(24, 1 << i) for i in range(4)), nn.Conv1d(24, 8, 1)]
    return with_weights(nn.Sequential(*layers))


def strided_1d() -> nn.Module:
    """Return a network on two sequences."""
    return with_weights(
        nn.Sequential(
            nn.Conv1d(16, 32, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv1d(32, 32, 3, padding=1, groups=32),
            nn.Conv1d(32, 24, 1),
            nn.ReLU(),
            nn.AvgPool1d(4),
            nn.Flatten(),
            nn.Linear(24 * 12, 10),
        )
    )


class _Crnn(nn.Module):
    """Convolutions over a line of text, with an LSTM over the columns."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            conv(1, 16, 3),
            nn.MaxPool2d(2),
            conv(16, 32, 3),
            nn.MaxPool2d(2),
            conv(32, 32, 3),
            nn.MaxPool2d((4, 1)),
        )
        self.lstm = nn.LSTM(64, 24, batch_first=True)
        self.head = nn.Linear(24, 11)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, _ = self.lstm(self.layers(x).flatten(1, 2).transpose(1, 2))
        logits: torch.Tensor = self.head(y)
        return logits


def crnn() -> nn.Module:
    return with_weights(_Crnn(), images(2, 1, 32, 80, seed=0))


class _Odd(nn.Module):
    """Padding on one side, a channel multiplier, windows that leave pixels over."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=2)
        self.widen = nn.Conv2d(8, 24, 3, padding=1, groups=8)
        self.narrow = nn.Conv2d(24, 12, 1)
        self.tall = nn.Conv2d(12, 12, (5, 2), padding=(2, 0), groups=12)
        self.wide = nn.Conv2d(12, 12, (1, 7), padding=(0, 3), stride=(2, 1))
        self.head = nn.Linear(12 * 4 * 13, 7)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(functional.pad(x, (0, 1, 0, 1))))
        x = torch.relu(self.narrow(torch.relu(self.widen(x))))
        x = torch.relu(self.tall(functional.pad(x, (1, 0, 0, 0))))
        x = functional.avg_pool2d(torch.relu(self.wide(x)), 2)
        logits: torch.Tensor = self.head(x.flatten(1))
        return logits


def odd() -> nn.Module:
    return with_weights(_Odd())


class _Middle(nn.Module):
    """Features of all stages are outputs, as a detector's backbone has them."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.ModuleList(
            nn.Sequential(conv(i, o, 3, 2), InvertedResidual(o, 4 * o, o, 3, 1))
            for i, o in ((3, 8), (8, 16), (16, 24))
        )
        self.head = nn.Linear(24, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = []
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        return *found[:2], self.head(x.mean((2, 3)))


def middle() -> nn.Module:
    return of_48(_Middle())


def _small_residual(size: int) -> nn.Module:
    layers = conv(3, 16, 3, 2), Residual(16, 16), Residual(16, 32, 2), nn.AdaptiveAvgPool2d(1)
    module = nn.Sequential(*layers, nn.Flatten(), nn.Linear(32, 10))
    return with_weights(module, seeded.images(2, size, seed=0))


def pair_of_images() -> nn.Module:
    """Return a batch of two."""
    return _small_residual(32)


def wide() -> nn.Module:
    """Return an int16 network."""
    return _small_residual(48)


def wide_parts() -> nn.Module:
    """Return a network with an int16 first block."""
    return _small_residual(48)


class _Stream(nn.Module):
    """Convolutions over each image and an average over the images before it."""

    past: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(conv(3, 12, 3, 2), InvertedResidual(12, 48, 16, 3, 2))
        self.after = nn.Sequential(InvertedResidual(16, 64, 16, 3, 1), conv(16, 24, 3, 2))
        self.head = nn.Linear(24, 5)
        self.register_buffer("past", torch.zeros(1, 16, 12, 12))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.past = 0.5 * self.past + 0.5 * self.layers(x)
        logits: torch.Tensor = self.head(self.after(self.past).mean((2, 3)))
        return logits


def stream() -> nn.Module:
    """Return a network with state between its convolutions."""
    return of_48(_Stream())


class _Siamese(nn.Module):
    """Distance between two images."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            conv(3, 16, 3, 2),
            InvertedResidual(16, 64, 24, 3, 2),
            InvertedResidual(24, 96, 24, 3, 1),
        )
        self.head = nn.Linear(24, 2)

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        apart = torch.abs(self.layers(a) - self.layers(b))
        logits: torch.Tensor = self.head(apart.mean((2, 3)))
        return logits


def siamese() -> nn.Module:
    return with_weights(_Siamese(), seeded.images(2, 32, seed=0), seeded.images(2, 32, seed=3))
