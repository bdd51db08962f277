# SPDX-License-Identifier: Apache-2.0
"""pl::less as TOSA: 1 where the other side's table entry is above a, by SUB and CLAMP."""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import INT8, TosaValue
from aot.backends.ethos_u.emitters.comparing import NOT_INT16, looked_up
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.operands import bad_rank, in_rank
from aot.backends.ethos_u.emitters.rescaling import narrowed, widened
from aot.backends.ethos_u.tosa import TosaGraph


def reject(a: torch.Tensor, b: torch.Tensor, table: torch.Tensor) -> str:
    return bad_rank(a, b)


def emit(
    graph: TosaGraph,
    a: TosaValue | torch.Tensor,
    b: TosaValue | torch.Tensor,
    table: torch.Tensor,
) -> TosaValue:
    rank = max(len(a.shape), len(b.shape))
    bound = looked_up(graph, b, table, rank)
    x = widened(graph, in_rank(graph, graph.operand(a), rank), 0)
    return graph.clamp(narrowed(graph, graph.sub(bound, x), INT8), 0, 1)


EMITTER = Emitter(emit, reject, not_int16=NOT_INT16)
