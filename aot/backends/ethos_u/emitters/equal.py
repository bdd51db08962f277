# SPDX-License-Identifier: Apache-2.0
"""pl::equal: 1 minus the square of the difference between a and the other side's table entry,
CLAMP. The negated form is the square itself.
"""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import INT8, INT32, TosaValue
from aot.backends.ethos_u.emitters.comparing import NOT_INT16, looked_up
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.operands import bad_rank, in_rank
from aot.backends.ethos_u.emitters.rescaling import narrowed, widened
from aot.backends.ethos_u.tosa import TosaGraph


def reject(a: torch.Tensor, b: torch.Tensor, table: torch.Tensor, negated: bool) -> str:
    return bad_rank(a, b)


def emit(
    graph: TosaGraph,
    a: TosaValue | torch.Tensor,
    b: TosaValue | torch.Tensor,
    table: torch.Tensor,
    negated: bool,
) -> TosaValue:
    rank = max(len(a.shape), len(b.shape))
    wanted = looked_up(graph, b, table, rank)
    x = widened(graph, in_rank(graph, graph.operand(a), rank), 0)
    difference = graph.sub(wanted, x)
    apart = graph.mul(difference, difference)
    if not negated:
        apart = graph.sub(graph.constant(torch.ones((1,) * rank), INT32), apart)
    return graph.clamp(narrowed(graph, apart, INT8), 0, 1)


EMITTER = Emitter(emit, reject, not_int16=NOT_INT16)
