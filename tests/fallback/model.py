# SPDX-License-Identifier: Apache-2.0
"""A network with ops in float32 by request, between int8 ones. They are norms with computed
weights, and a last layer with float32 results.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn


class Floats(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.linear = nn.Linear(6, 6)
        self.tail = nn.LayerNorm(6)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.conv(x)
        x = F.relu(F.group_norm(x, 2, x.mean((0, 2, 3))))
        x = F.interpolate(x, scale_factor=2, mode="nearest").mean(3)
        scores = torch.bmm(x, x.transpose(1, 2)) / (x.sum(-1, keepdim=True) + 2.0)
        peak, floor = scores.amax(-1, keepdim=True), scores.amin(-1, keepdim=True)
        spread = torch.maximum(scores, floor + 0.1) - torch.minimum(scores, peak - 0.1)
        x = x[..., :6]
        gate: torch.Tensor = self.linear(F.layer_norm(x, (6,), x.mean((0, 1)))).sigmoid()
        y = gate + spread[..., :6]
        return y, self.tail(y)


def factory() -> nn.Module:
    torch.manual_seed(0)
    return Floats().eval()


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(16):
        yield (torch.randn(1, 3, 6, 6, generator=generator),)
