# SPDX-License-Identifier: Apache-2.0
"""Residual network with a kernel too large for the engine of npu.py."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.wide = nn.Conv2d(8, 8, 5, padding=2)
        self.last = nn.Conv2d(8, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.first(x))
        x = F.max_pool2d(x + F.relu(self.wide(x)), 2)
        return F.max_pool2d(self.last(torch.tanh(x)), 2).flatten(1)


def factory() -> nn.Module:
    torch.manual_seed(0)
    return Residual().eval()


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(8):
        yield (torch.randn(1, 3, 12, 12, generator=generator),)
