# SPDX-License-Identifier: Apache-2.0
"""A filter over frames of a signal that keeps the end of the last frame, and a bidirectional
classifier of its result.
"""

from collections.abc import Iterator

import torch
from torch import nn

_CHANNELS, _FRAME, _TAPS, _UNITS = 2, 8, 5, 3


class _Stream(nn.Module):
    past: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(_CHANNELS, 4, _TAPS)
        self.gru = nn.GRU(4, _UNITS, batch_first=True, bidirectional=True)
        self.lstm = nn.LSTM(2 * _UNITS, _UNITS, batch_first=True)
        self.linear = nn.Linear(_UNITS * _FRAME, 3)
        self.register_buffer("past", torch.zeros(1, _CHANNELS, _TAPS - 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        signal = torch.cat([self.past, x], 2)
        self.past = signal[:, :, -(_TAPS - 1) :]
        both, _ = self.gru(torch.relu(self.conv(signal)).transpose(1, 2))
        read, _ = self.lstm(both)
        result: torch.Tensor = self.linear(read.flatten(1))
        return result


def factory() -> nn.Module:
    torch.manual_seed(0)
    return _Stream().eval()


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(16):
        yield (torch.randn(1, _CHANNELS, _FRAME, generator=generator),)
