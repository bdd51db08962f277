# SPDX-License-Identifier: Apache-2.0
"""pl::where, int8: each value's MINIMUM with the largest number if the mask selects it, with the
smallest number otherwise; then MAXIMUM of both. Int16: b + mask * (a - b) in int32.
"""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import INT8, TosaValue
from aot.backends.ethos_u.emitters import maximum, minimum
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.operands import bad_rank, in_rank
from aot.backends.ethos_u.emitters.rescaling import narrowed, widened
from aot.backends.ethos_u.tosa import TosaGraph

_CHOSEN = [-128] * 129 + [127] * 127
_LEFT = [127] * 129 + [-128] * 127
"""Tables: the largest int8 for 1 in a mask, the smallest for 0; and the reverse."""


def reject(mask: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> str:
    if not mask.is_meta and bool(mask.all() or not mask.any()):
        return "its mask is the same everywhere"
    return bad_rank(mask, a, b)


def emit(
    graph: TosaGraph,
    mask: TosaValue | torch.Tensor,
    a: TosaValue | torch.Tensor,
    b: TosaValue | torch.Tensor,
) -> TosaValue:
    choice, x, y = (graph.operand(v) for v in (mask, a, b))
    if x.dtype == INT8:
        chosen = graph.table(choice, _CHOSEN)
        left = graph.table(choice, _LEFT)
        return maximum.emit(graph, minimum.emit(graph, x, chosen), minimum.emit(graph, y, left))
    rank = max(len(v.shape) for v in (choice, x, y))
    first, second, kept = (widened(graph, in_rank(graph, v, rank), 0) for v in (x, y, choice))
    difference = graph.mul(graph.sub(first, second), kept)
    again = widened(graph, in_rank(graph, y, rank), 0)
    return narrowed(graph, graph.add(difference, again), x.dtype)


EMITTER = Emitter(emit, reject)
