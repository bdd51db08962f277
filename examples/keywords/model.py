# SPDX-License-Identifier: Apache-2.0
"""Keyword model: it classifies half a second of sound as silence, "up", "down" or "beep".

The words are rising, falling or constant tones in noise, because human recordings would make an
example large. Replace them by your recordings, and a network for them.
"""

import functools
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from firmware.features.log_mel import LogMel

WORDS = ("silence", "up", "down", "beep")
FEATURES = LogMel(rate=8000, frame=256, hop=128, bands=20)  # as in BUILD.bazel
SAMPLES = 256 + 30 * 128


def recording(word: int, seed: int) -> NDArray[np.int16]:
    """Return the sound of a word, int16 [SAMPLES]."""
    random = np.random.default_rng(seed)
    time = np.arange(SAMPLES) / FEATURES.rate
    pitch, swing = random.uniform(300, 1200), random.uniform(600, 1800)
    rise = {0: 0.0, 1: swing, 2: -swing, 3: 0.0}[word]
    start = pitch + (swing if word == 2 else 0)
    tone = np.sin(2 * np.pi * (start * time + rise * time**2)) * (word != 0)
    loudness, noise = random.uniform(2000, 12000), random.uniform(50, 400)
    sound = tone * loudness + random.normal(0, noise, SAMPLES)
    return np.asarray(sound, np.int16)


@functools.cache
def _spectrograms(first: int, each: int) -> tuple[torch.Tensor, torch.Tensor]:
    words = [word for _ in range(each) for word in range(len(WORDS))]
    found = [FEATURES(recording(word, first + i)) for i, word in enumerate(words)]
    return torch.from_numpy(np.stack(found))[:, None], torch.tensor(words)


def factory() -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 8, (4, 4), stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(8, 12, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d((4, 5)),
        nn.Flatten(),
        nn.Linear(12 * 4 * 5, len(WORDS)),
    )
    spectrograms, words = _spectrograms(0, 48)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(_Scale()(spectrograms)), words).backward()
        optimizer.step()
    return nn.Sequential(_Scale(), *model).eval()


class _Scale(nn.Module):
    """Scales features. Those of audible sound are about 16 to 44."""

    def forward(self, spectrogram: torch.Tensor) -> torch.Tensor:
        return spectrogram / 8 - 4


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    for spectrogram in _spectrograms(0, 48)[0][:32]:
        yield (spectrogram[None],)


def evaluation() -> tuple[torch.Tensor, torch.Tensor]:
    return _spectrograms(1000, 24)
