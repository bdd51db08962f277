# SPDX-License-Identifier: Apache-2.0
"""KWT-1, the small keyword transformer: spectrogram [1, 98, 40] to 35 logits."""

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import one_by_one, seed_weights, spectrograms

FRAMES, BINS = 98, 40
WIDTH = 64
LAYERS = 12


class KeywordTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.frames = nn.Linear(BINS, WIDTH)
        self.word = nn.Embedding(1, WIDTH)
        self.positions = nn.Embedding(FRAMES + 1, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 1, 4 * WIDTH, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 35)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        word = self.word.weight.expand(len(x), 1, WIDTH)
        x = torch.cat([word, self.frames(x)], dim=1) + self.positions.weight
        logits: torch.Tensor = self.head(self.layers(x)[:, 0])
        return logits


def speech(count: int, seed: int) -> torch.Tensor:
    return spectrograms(count, FRAMES, BINS, mean=0.0, deviation=1.0, seed=seed)


def factory() -> nn.Module:
    return seed_weights(KeywordTransformer(), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(speech(32, seed=1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(speech(4, seed=2))
