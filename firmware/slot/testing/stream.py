# SPDX-License-Identifier: Apache-2.0
"""A filter over frames of a signal, which keeps the end of the last one, and a classifier."""

from collections.abc import Iterator

import torch
from torch import nn

_CHANNELS, _FRAME, _TAPS = 2, 8, 5


class _Stream(nn.Module):
    past: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(_CHANNELS, 4, _TAPS)
        self.linear = nn.Linear(4 * _FRAME, 3)
        self.register_buffer("past", torch.zeros(1, _CHANNELS, _TAPS - 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        signal = torch.cat([self.past, x], 2)
        self.past = signal[:, :, -(_TAPS - 1) :]
        result: torch.Tensor = self.linear(torch.relu(self.conv(signal)).flatten(1))
        return result


def factory() -> nn.Module:
    torch.manual_seed(0)
    return _Stream().eval()


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(16):
        yield (torch.randn(1, _CHANNELS, _FRAME, generator=generator),)
