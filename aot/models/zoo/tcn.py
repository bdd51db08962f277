# SPDX-License-Identifier: Apache-2.0
"""A temporal convolutional network, causal and dilated: an image's 64 pixels in sequence, [1, 1,
64], to 10 logits.
"""

import torch
import torch.nn.functional as F
from torch import nn

from aot.models.zoo.on_digits import Trained, seen_as

WIDTH = 24
KERNEL = 3


class TcnBlock(nn.Module):
    """Two causal convolutions around a shortcut."""

    def __init__(self, inputs: int, dilation: int) -> None:
        super().__init__()
        self.past = (KERNEL - 1) * dilation
        self.first = nn.Conv1d(inputs, WIDTH, KERNEL, dilation=dilation)
        self.second = nn.Conv1d(WIDTH, WIDTH, KERNEL, dilation=dilation)
        self.shortcut = nn.Conv1d(inputs, WIDTH, 1) if inputs != WIDTH else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first(F.pad(x, (self.past, 0))))
        y = torch.relu(self.second(F.pad(y, (self.past, 0))))
        return torch.relu(y + self.shortcut(x))


class Tcn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.Sequential(TcnBlock(1, 1), *(TcnBlock(WIDTH, 1 << i) for i in range(1, 5)))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(self.blocks(x)[:, :, -1])
        return logits


MODEL = Trained("tcn", Tcn, lambda: seen_as(lambda x: x.flatten(2)))
factory, calibration = MODEL.factory, MODEL.calibration
evaluation, test_inputs = MODEL.evaluation, MODEL.test_inputs
