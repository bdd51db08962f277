# SPDX-License-Identifier: Apache-2.0
"""Two broadcast operands: TOSA needs equal ranks."""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.tosa import TosaGraph

_LARGEST_RANK = 4


def bad_rank(*operands: torch.Tensor) -> str:
    rank = max(x.dim() for x in operands)
    return f"it has {rank} dimensions, of at most {_LARGEST_RANK}" if rank > _LARGEST_RANK else ""


def aligned(
    graph: TosaGraph, a: TosaValue | torch.Tensor, b: TosaValue | torch.Tensor
) -> tuple[TosaValue, TosaValue]:
    """Return the operands; the one with fewer dimensions gets leading dimensions of 1."""
    values = graph.operand(a), graph.operand(b)
    rank = max(len(v.shape) for v in values)
    return in_rank(graph, values[0], rank), in_rank(graph, values[1], rank)


def in_rank(graph: TosaGraph, x: TosaValue, rank: int) -> TosaValue:
    """Return x with leading dimensions of 1."""
    return graph.reshape(x, (1,) * (rank - len(x.shape)) + x.shape)
