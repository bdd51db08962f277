# SPDX-License-Identifier: Apache-2.0
"""PointNet, with the small network that first rotates the cloud: 32 points of an image's ink, as x,
y and ink, [1, 3, 32], to 10 logits.
"""

import torch
from torch import nn

from aot.models.zoo.on_digits import Trained, seen_as

POINTS = 32


def layer(inputs: int, outputs: int) -> nn.Sequential:
    """Return the same for each point."""
    return nn.Sequential(nn.Conv1d(inputs, outputs, 1), nn.BatchNorm1d(outputs), nn.ReLU())


class PointNet(nn.Module):
    turn: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.look = nn.Sequential(layer(3, 32), layer(32, 64))
        self.turn_by = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 9))
        self.register_buffer("turn", torch.eye(3))
        self.points = nn.Sequential(layer(3, 32), layer(32, 64), layer(64, 128))
        self.head = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, cloud: torch.Tensor) -> torch.Tensor:
        turn = self.turn_by(self.look(cloud).amax(dim=2)).view(-1, 3, 3) + self.turn
        logits: torch.Tensor = self.head(self.points(turn @ cloud).amax(dim=2))
        return logits


def cloud(images: torch.Tensor) -> torch.Tensor:
    """Return the 32 darkest pixels of each image, from the top down: [N, 3, 32] in [-1, 1]."""
    ink = images.flatten(1)
    most = ink.argsort(dim=1, descending=True, stable=True)[:, :POINTS].sort(dim=1).values
    y, x = most // 8, most % 8
    return torch.stack([x / 3.5 - 1.0, y / 3.5 - 1.0, ink.gather(1, most) * 2.0 - 1.0], dim=1)


MODEL = Trained("pointnet", PointNet, lambda: seen_as(cloud))
factory, calibration = MODEL.factory, MODEL.calibration
evaluation, test_inputs = MODEL.evaluation, MODEL.test_inputs
