# SPDX-License-Identifier: Apache-2.0
"""Models with state, written like user code, and a bundle of them all.

Each takes a frame of a signal, float32 [1, CHANNELS, FRAME], and continues from the frame before.
The outputs over all frames equal those of the stateless model over the whole signal.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

CHANNELS, FRAME, TAPS = 2, 8, 5
FRAMES = 24


class Fir(nn.Module):
    """A causal convolution: the last TAPS - 1 samples are kept."""

    past: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(CHANNELS, 3, TAPS)
        self.register_buffer("past", torch.zeros(1, CHANNELS, TAPS - 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        signal = torch.cat([self.past, x], 2)
        self.past = signal[:, :, -(TAPS - 1) :]
        return torch.relu(self.conv(signal))


class MovingAverage(nn.Module):
    """Mean of the last four frames' means. A shift buffer drops the oldest one."""

    means: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("means", torch.zeros(1, CHANNELS, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.means[:, :, :-1] = self.means[:, :, 1:].clone()
        self.means[:, :, -1] = x.mean(2)
        return self.means.mean(2)


class Smooth(nn.Module):
    """Exponential average, updated in place and returned as the output. It starts at a different
    value than zero.
    """

    level: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("level", torch.linspace(-1.0, 1.0, FRAME).repeat(1, CHANNELS, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.level.mul_(0.75).add_(x, alpha=0.25)


class Delay(nn.Module):
    """Two frames back, by way of two buffers; and the difference from it."""

    last: torch.Tensor
    before: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("last", torch.zeros(1, CHANNELS, FRAME))
        self.register_buffer("before", torch.zeros(1, CHANNELS, FRAME))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        old = self.before.clone()
        self.before.copy_(self.last)
        self.last.copy_(x)
        return x - old, old[:, :, :3]


class Accumulate(nn.Module):
    """Sum; its reading step may write it in place."""

    sum: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("sum", torch.zeros(1, CHANNELS, FRAME))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.sum = torch.clamp(self.sum + x, -2.0, 2.0)
        return torch.tanh(self.sum)


class Gated(nn.Module):
    """Recurrent cell: a state of known range meets the input in a Linear layer."""

    h: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.input, self.hidden = nn.Linear(FRAME, 6), nn.Linear(6, 6)
        self.register_buffer("h", torch.zeros(CHANNELS, 6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.h = torch.tanh(self.input(x[0]) + self.hidden(self.h))
        return self.h * 2.0


class Keyword(nn.Module):
    """LSTM of two layers over the frame's samples, with a score."""

    h: torch.Tensor
    c: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.score = nn.LSTM(CHANNELS, 5, 2, batch_first=True), nn.Linear(5, 3)
        self.register_buffer("h", torch.zeros(2, 1, 5))
        self.register_buffer("c", torch.zeros(2, 1, 5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, (self.h, self.c) = self.lstm(x.transpose(1, 2), (self.h, self.c))
        score: torch.Tensor = self.score(y[:, -1])
        return score


class Cell(nn.Module):
    """GRU cell taking one frame per run; its state is its output."""

    h: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(FRAME, 6)
        self.register_buffer("h", torch.zeros(CHANNELS, 6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.h = self.cell(x[0], self.h)
        return self.h * 2.0


class Tcn(nn.Module):
    """Two causal convolutions, the second dilated; each keeps the past samples it needs."""

    past: torch.Tensor
    further: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv1d(CHANNELS, 4, 3), nn.Conv1d(4, 4, 3, dilation=2)
        self.register_buffer("past", torch.zeros(1, CHANNELS, 2))
        self.register_buffer("further", torch.zeros(1, 4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.past, x], 2)
        self.past = x[:, :, -2:]
        y = torch.relu(self.first(x))
        signal = torch.cat([self.further, y], 2)
        self.further = signal[:, :, -4:]
        return y + torch.relu(self.second(signal))


MODELS = (Fir, MovingAverage, Smooth, Delay, Accumulate, Gated, Keyword, Cell, Tcn)


class Bundle(nn.Module):
    """All of them, each on the same frame."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList(kind() for kind in MODELS)

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        results: list[torch.Tensor] = []
        for part in self.parts:
            result = part(x)
            results += result if isinstance(result, tuple) else [result]
        return results


def factory() -> nn.Module:
    torch.manual_seed(0)
    return Bundle().eval()


def sequence(seed: int) -> list[tuple[torch.Tensor, ...]]:
    """Return frames of one signal: a chirp with noise."""
    random = torch.Generator().manual_seed(seed)
    time = torch.arange(FRAMES * FRAME) / 40.0
    signal = torch.stack([torch.sin(time * (1 + channel + time)) for channel in range(CHANNELS)])
    signal = signal + torch.randn(signal.shape, generator=random) * 0.1
    return [(frame[None].contiguous(),) for frame in signal.split(FRAME, 1)]


def calibration() -> Iterator[list[tuple[torch.Tensor, ...]]]:
    yield from (sequence(seed) for seed in range(3))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    yield from sequence(seed=3)
