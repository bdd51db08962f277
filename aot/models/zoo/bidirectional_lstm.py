# SPDX-License-Identifier: Apache-2.0
"""Two layers of LSTM in both directions over the rows of an image: [1, 8, 8] to 10 logits."""

import torch
from torch import nn

from aot.models.zoo.on_digits import Trained, rows

WIDTH = 24


class BidirectionalLstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, WIDTH, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * WIDTH, 10)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(self.lstm(rows)[0].mean(dim=1))
        return logits


MODEL = Trained("bidirectional_lstm", BidirectionalLstm, rows)
factory, calibration = MODEL.factory, MODEL.calibration
evaluation, test_inputs = MODEL.evaluation, MODEL.test_inputs
