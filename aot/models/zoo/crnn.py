# SPDX-License-Identifier: Apache-2.0
"""Convolutions down to one row, and a GRU along it in both directions: image [1, 1, 8, 8] to 10
logits.
"""

import torch
from torch import nn

from aot.models.zoo.blocks import conv
from aot.models.zoo.on_digits import Trained

WIDTH = 24


class Crnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            conv(1, 16, 3),
            nn.MaxPool2d((2, 1)),
            conv(16, 32, 3),
            nn.MaxPool2d((4, 1)),
        )
        self.gru = nn.GRU(32, WIDTH, bidirectional=True)
        self.head = nn.Linear(2 * WIDTH, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        columns = self.features(image).squeeze(2).permute(2, 0, 1)
        logits: torch.Tensor = self.head(self.gru(columns)[0].mean(dim=0))
        return logits


MODEL = Trained("crnn", Crnn)
factory, calibration = MODEL.factory, MODEL.calibration
evaluation, test_inputs = MODEL.evaluation, MODEL.test_inputs
