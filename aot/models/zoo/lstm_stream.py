# SPDX-License-Identifier: Apache-2.0
"""An LSTM on a stream: frame [1, 1, 20] to 12 logits; the states are kept."""

import torch
from torch import nn

from aot.models.seeded import seed_weights
from aot.models.zoo.stream import BINS, WORDS, calibration, evaluation, test_inputs

__all__ = ["calibration", "evaluation", "factory", "test_inputs"]

WIDTH = 64


class LstmStream(nn.Module):
    h: torch.Tensor
    c: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(BINS, WIDTH)
        self.head = nn.Linear(WIDTH, WORDS)
        self.register_buffer("h", torch.zeros(1, 1, WIDTH))
        self.register_buffer("c", torch.zeros(1, 1, WIDTH))

    def forward(self, frame: torch.Tensor) -> torch.Tensor:
        y, (self.h, self.c) = self.lstm(frame, (self.h, self.c))
        logits: torch.Tensor = self.head(y[-1])
        return logits


def factory() -> nn.Module:
    return seed_weights(LstmStream(), seed=0)
