# SPDX-License-Identifier: Apache-2.0
"""A layer of a transformer's encoder: [1, 49, 64] to the same, 4 heads, GELU."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import one_by_one

ROWS, WIDTH, HEADS = 49, 64, 4


def factory() -> nn.Module:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(
        WIDTH, HEADS, 4 * WIDTH, activation="gelu", batch_first=True, dropout=0.0
    )
    return layer.eval()


def _sequences(count: int, seed: int) -> torch.Tensor:
    """Return slowly changing rows, similar to the frames of a signal."""
    steps = torch.randn(count, ROWS, WIDTH, generator=torch.Generator().manual_seed(seed))
    return steps.cumsum(1) / torch.arange(1, ROWS + 1).sqrt()[:, None]


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(_sequences(32, 1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(_sequences(2, 2))
