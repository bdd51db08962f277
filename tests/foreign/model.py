# SPDX-License-Identifier: Apache-2.0
"""A model of two inputs and two outputs, with a state, and with names invalid in C."""

from collections.abc import Iterator

import torch
from torch import nn


class Größe(nn.Module):
    """A slow average of one input, combined with the other."""

    level: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.größe = nn.Linear(16, 8)
        self.quer = nn.Conv1d(4, 8, 3, padding=1)
        self.register_buffer("level", torch.zeros(1, 8))

    def forward(self, länge: torch.Tensor, quer: torch.Tensor) -> dict[str, torch.Tensor]:
        self.level = 0.5 * self.level + 0.5 * torch.relu(self.größe(länge))
        across = torch.tanh(self.quer(quer)).mean(-1)
        return {"größe <b>": self.level + across, "|quer`|": across}


def factory() -> nn.Module:
    torch.manual_seed(1)
    return Größe().eval()


def _sequence(seed: int) -> list[tuple[torch.Tensor, ...]]:
    chance = torch.Generator().manual_seed(seed)
    return [
        (torch.rand(1, 16, generator=chance) ** 2, torch.rand(1, 4, 6, generator=chance) ** 3)
        for _ in range(8)
    ]


def calibration() -> Iterator[list[tuple[torch.Tensor, ...]]]:
    yield from (_sequence(seed) for seed in range(4))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    yield from _sequence(4)
