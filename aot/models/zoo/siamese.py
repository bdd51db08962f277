# SPDX-License-Identifier: Apache-2.0
"""A siamese network: two images in one batch, [1, 2, 8, 8], to the logits of two answers: they show
different digits, or the same one.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from aot.models.zoo.blocks import conv
from aot.models.zoo.on_digits import Data, Trained, images

SHARPNESS = 8.0


class Siamese(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            conv(1, 16, 3),
            nn.MaxPool2d(2),
            conv(16, 32, 3),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(128, 32),
        )
        self.alike = nn.Parameter(torch.tensor(0.5))

    def forward(self, pair: torch.Tensor) -> torch.Tensor:
        first, second = self.encoder(pair[:, :1]), self.encoder(pair[:, 1:])
        same = (F.cosine_similarity(first, second)[:, None] - self.alike) * SHARPNESS
        return torch.cat([-same, same], dim=1)


def pairs() -> tuple[Data, Data]:
    """Return pairs of images; every second pair has the same digit."""
    rng = np.random.default_rng(0)

    def paired(images: torch.Tensor, digits: torch.Tensor) -> Data:
        same = torch.arange(len(digits)) % 2
        others = [
            rng.choice(torch.nonzero((digits == digit) == bool(s))[:, 0].numpy())
            for digit, s in zip(digits, same, strict=True)
        ]
        return torch.cat([images, images[others]], dim=1), same

    train, test = images()
    return paired(*train), paired(*test)


MODEL = Trained("siamese", Siamese, pairs)
factory, calibration = MODEL.factory, MODEL.calibration
evaluation, test_inputs = MODEL.evaluation, MODEL.test_inputs
