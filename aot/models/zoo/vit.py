# SPDX-License-Identifier: Apache-2.0
"""A vision transformer on patches of 2x2: image [1, 1, 8, 8] to 10 logits."""

import torch
from torch import nn

from aot.models.zoo.on_digits import Trained

WIDTH = 48


class VisionTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(1, WIDTH, 2, stride=2)
        self.token = nn.Embedding(1, WIDTH)
        self.positions = nn.Embedding(17, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, 4, 2 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(
            layer, 2, nn.LayerNorm(WIDTH), enable_nested_tensor=False
        )
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.patches(image).flatten(2).transpose(1, 2)
        token = self.token.weight.expand(len(x), 1, WIDTH)
        x = torch.cat([token, x], dim=1) + self.positions.weight
        logits: torch.Tensor = self.head(self.layers(x)[:, 0])
        return logits


MODEL = Trained("vit", VisionTransformer)
factory, calibration = MODEL.factory, MODEL.calibration
evaluation, test_inputs = MODEL.evaluation, MODEL.test_inputs
