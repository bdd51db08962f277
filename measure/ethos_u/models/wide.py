# SPDX-License-Identifier: Apache-2.0
"""int16 across the NPU's inputs and outputs: [1, 3, 16, 16] to [1, 8, 16, 16]. Softmax of int16
stays on the core, between two delegates.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import images, one_by_one

SIZE = 16


class Wide(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.last = nn.Conv2d(16, 8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first(x))
        z = nn.functional.silu(self.second(y)) + y
        return torch.as_tensor(self.last(z.softmax(1)))


def factory() -> nn.Module:
    torch.manual_seed(0)
    return Wide().eval()


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(32, SIZE, seed=1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(2, SIZE, seed=2))
