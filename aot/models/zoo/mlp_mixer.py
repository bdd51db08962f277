# SPDX-License-Identifier: Apache-2.0
"""MLP-Mixer on patches of 2x2: image [1, 1, 8, 8] to 10 logits."""

import torch
from torch import nn

from aot.models.zoo.on_digits import Trained

TOKENS, WIDTH = 16, 32


def mlp(width: int, inner: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))


class MixerBlock(nn.Module):
    """Mixes tokens, and then channels."""

    def __init__(self) -> None:
        super().__init__()
        self.token_norm = nn.LayerNorm(WIDTH)
        self.tokens = mlp(TOKENS, 2 * TOKENS)
        self.channel_norm = nn.LayerNorm(WIDTH)
        self.channels = mlp(WIDTH, 4 * WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.tokens(self.token_norm(x).transpose(1, 2)).transpose(1, 2)
        mixed: torch.Tensor = x + self.channels(self.channel_norm(x))
        return mixed


class MlpMixer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(1, WIDTH, 2, stride=2)
        self.blocks = nn.Sequential(MixerBlock(), MixerBlock(), nn.LayerNorm(WIDTH))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.patches(image).flatten(2).transpose(1, 2)
        logits: torch.Tensor = self.head(self.blocks(x).mean(dim=1))
        return logits


MODEL = Trained("mlp_mixer", MlpMixer)
factory, calibration = MODEL.factory, MODEL.calibration
evaluation, test_inputs = MODEL.evaluation, MODEL.test_inputs
