# SPDX-License-Identifier: Apache-2.0
"""Calibration data for the networks of shapes.py and other_shapes.py."""

from collections.abc import Iterator

import torch

from aot.models import seeded

Samples = Iterator[tuple[torch.Tensor, ...]]


def images(count: int, channels: int, height: int, width: int, seed: int) -> torch.Tensor:
    size = max(height, width)
    found = seeded.images(count * -(-channels // 3), size, seed)
    return found.reshape(count, -1, size, size)[:, :channels, :height, :width].contiguous()


def _sequences(channels: int, steps: int, seed: int, count: int = 4) -> torch.Tensor:
    return torch.randn(count, channels, steps, generator=torch.Generator().manual_seed(seed))


def images_of_48() -> Samples:
    return seeded.one_by_one(seeded.images(4, 48, seed=1))


def channels_last_of_48() -> Samples:
    for (x,) in images_of_48():
        yield (x.to(memory_format=torch.channels_last),)


def pairs_of_32() -> Samples:
    """Return two images for each run."""
    return ((x,) for x in torch.split(seeded.images(8, 32, seed=1), 2))


def odd_images() -> Samples:
    return seeded.one_by_one(images(4, 3, 37, 53, seed=1))


def sequences() -> Samples:
    return seeded.one_by_one(_sequences(16, 96, seed=1))


def pairs_of_sequences() -> Samples:
    return ((x,) for x in torch.split(_sequences(16, 96, seed=1, count=8), 2))


def lines_of_text() -> Samples:
    return seeded.one_by_one(images(4, 1, 32, 80, seed=1))


def two_images() -> Samples:
    return seeded.one_by_one(seeded.images(4, 32, seed=1), seeded.images(4, 32, seed=2))
