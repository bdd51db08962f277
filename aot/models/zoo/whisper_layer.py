# SPDX-License-Identifier: Apache-2.0
"""A layer of the encoder of whisper-tiny: [1, 128, 384], 2.6 s of speech, to the same shape."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn

from aot.models.seeded import one_by_one, seed_weights, spectrograms

WIDTH = 384
HEADS = 6
FRAMES = 128


class Attention(nn.Module):
    """Attention in whisper's form: four linear layers, the keys' one without bias."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = (*x.shape[:2], HEADS, WIDTH // HEADS)
        query, key, value = (
            layer(x).view(heads).permute(0, 2, 1, 3) for layer in (self.query, self.key, self.value)
        )
        mixed = F.scaled_dot_product_attention(query, key, value)
        result: torch.Tensor = self.out(mixed.permute(0, 2, 1, 3).flatten(start_dim=2))
        return result


class WhisperLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )
        self.mlp_norm = nn.LayerNorm(WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x))
        mixed: torch.Tensor = x + self.mlp(self.mlp_norm(x))
        return mixed


def speech(count: int, seed: int) -> torch.Tensor:
    return spectrograms(count, FRAMES, WIDTH, mean=0.0, deviation=1.0, seed=seed)


def factory() -> nn.Module:
    return seed_weights(WhisperLayer(), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(speech(32, seed=1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(speech(2, seed=2))
