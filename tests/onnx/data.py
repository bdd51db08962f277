# SPDX-License-Identifier: Apache-2.0
"""Calibration data of the float files."""

from __future__ import annotations

from collections.abc import Iterator

import torch


def _samples(*shape: int) -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(0)
    for _ in range(64):
        yield (torch.rand(shape, generator=generator),)


def images() -> Iterator[tuple[torch.Tensor, ...]]:
    return _samples(1, 3, 8, 8)


def frames() -> Iterator[list[tuple[torch.Tensor, ...]]]:
    """Yield one sequence."""
    yield [*_samples(1, 3)]
