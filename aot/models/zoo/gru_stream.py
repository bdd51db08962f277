# SPDX-License-Identifier: Apache-2.0
"""Two GRU layers on a stream: frame [1, 1, 20] to 12 logits; the states are kept."""

import torch
from torch import nn

from aot.models.seeded import seed_weights
from aot.models.zoo.stream import BINS, WORDS, calibration, evaluation, test_inputs

__all__ = ["calibration", "evaluation", "factory", "test_inputs"]

WIDTH = 48


class GruStream(nn.Module):
    h: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(BINS, WIDTH, num_layers=2)
        self.head = nn.Linear(WIDTH, WORDS)
        self.register_buffer("h", torch.zeros(2, 1, WIDTH))

    def forward(self, frame: torch.Tensor) -> torch.Tensor:
        y, self.h = self.gru(frame, self.h)
        logits: torch.Tensor = self.head(y[-1])
        return logits


def factory() -> nn.Module:
    return seed_weights(GruStream(), seed=0)
