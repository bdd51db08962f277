# SPDX-License-Identifier: Apache-2.0
"""pl::where: of int8 MAXIMUM of the MINIMUM of each value with the largest number where the mask
chooses it, and with the smallest where it does not; of int16 b + mask * (a - b) in int32.
"""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import INT8, Value
from aot.backends.ethos_u.emitters import maximum, minimum
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.operands import bad_rank, in_rank
from aot.backends.ethos_u.emitters.rescaling import narrowed, widened
from aot.backends.ethos_u.tosa import TosaGraph

_CHOSEN = [-128] * 129 + [127] * 127
_LEFT = [127] * 129 + [-128] * 127
"""Tables: the largest int8 of a mask's 1, the smallest of its 0; and the other way."""


def reject(mask: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> str:
    if not mask.is_meta and bool(mask.all() or not mask.any()):
        return "its mask is the same everywhere"
    return bad_rank(mask, a, b)


def emit(
    graph: TosaGraph,
    mask: Value | torch.Tensor,
    a: Value | torch.Tensor,
    b: Value | torch.Tensor,
) -> Value:
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
