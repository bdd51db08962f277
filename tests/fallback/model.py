# SPDX-License-Identifier: Apache-2.0
"""A network with one of each op that runs in float32 by request, between int8 ones."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn


class Floats(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.group_norm = nn.GroupNorm(2, 8)
        self.layer_norm = nn.LayerNorm(6)
        self.linear = nn.Linear(6, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.group_norm(self.conv(x)))
        x = F.interpolate(x, scale_factor=2, mode="nearest").mean(3)
        scores = torch.bmm(x, x.transpose(1, 2)) / (x.sum(-1, keepdim=True) + 2.0)
        peak, floor = scores.amax(-1, keepdim=True), scores.amin(-1, keepdim=True)
        spread = torch.maximum(scores, floor + 0.1) - torch.minimum(scores, peak - 0.1)
        gate: torch.Tensor = self.linear(self.layer_norm(x[..., :6])).sigmoid()
        return gate + spread[..., :6]


def factory() -> nn.Module:
    torch.manual_seed(0)
    return Floats().eval()


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(16):
        yield (torch.randn(1, 3, 6, 6, generator=generator),)
