# SPDX-License-Identifier: Apache-2.0
"""Shared parts of comparisons: the other side, by a table, in int32."""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import INT32, TosaValue
from aot.backends.ethos_u.emitters.operands import in_rank
from aot.backends.ethos_u.emitters.rescaling import widened
from aot.backends.ethos_u.tosa import TosaGraph

NOT_INT16 = "products with their scales take more than 32 bits"
_LARGEST = 127
_INDEX = 128  # index of 0


def looked_up(
    graph: TosaGraph, b: TosaValue | torch.Tensor, table: torch.Tensor, rank: int
) -> TosaValue:
    """Return table[b + 128], int32, with entries in [-128, 128].

    128 is not an int8 value: a table with 128 is read as the sum of two tables.
    """
    if isinstance(b, torch.Tensor):
        entries = table.to(torch.int64)[b.to(torch.int64) + _INDEX]
        return in_rank(graph, graph.constant(entries.numpy(), INT32), rank)
    x = in_rank(graph, b, rank)
    y = widened(graph, graph.table(x, table.clamp(max=_LARGEST)), 0)
    beyond = table > _LARGEST
    if not bool(beyond.any()):
        return y
    return graph.add(y, widened(graph, graph.table(x, beyond.to(torch.int8)), 0))
