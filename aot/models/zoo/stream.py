# SPDX-License-Identifier: Apache-2.0
"""Keyword spotting in a stream of spectrogram frames, one a run."""

from collections.abc import Iterator

import torch

from aot.models.seeded import spectrograms

BINS, WORDS, FRAMES = 20, 12, 48

Sequence = list[tuple[torch.Tensor, ...]]


def sequences(count: int, seed: int) -> Iterator[Sequence]:
    """Yield sounds of 48 frames [1, 1, 20]."""
    for sound in spectrograms(count, FRAMES, BINS, mean=0.0, deviation=1.0, seed=seed):
        yield [(frame[None, None].contiguous(),) for frame in sound]


def calibration() -> Iterator[Sequence]:
    return sequences(16, seed=1)


def evaluation() -> Iterator[Sequence]:
    return sequences(4, seed=2)


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    (sequence,) = sequences(1, seed=3)
    return iter(sequence)
