# SPDX-License-Identifier: Apache-2.0
"""pl::div becomes pl::ethos_u_div, whose steps are TOSA's operators."""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import INT8, TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.operands import bad_rank, in_rank
from aot.backends.ethos_u.emitters.rescaling import ONE, clamped
from aot.backends.ethos_u.ops.div import div_steps, ethos_u_div, factor_of
from aot.backends.ethos_u.tosa import TosaGraph

_MOST_STEPS = 2.0**20


def reject(a: torch.Tensor, b: torch.Tensor, multiplier: int, shift: int, **_: int) -> str:
    if not 0 < factor_of(multiplier, shift) < _MOST_STEPS:
        return f"a quotient of 1 is {factor_of(multiplier, shift):.3g} steps of its result"
    return bad_rank(a, b)


def emit(
    graph: TosaGraph,
    a: TosaValue | torch.Tensor,
    b: TosaValue | torch.Tensor,
    a_zero_point: int,
    b_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
    activation_min: int,
    activation_max: int,
) -> TosaValue:
    rank = max(len(a.shape), len(b.shape))
    x, y = (in_rank(graph, graph.operand(v), rank) for v in (a, b))
    factor = factor_of(multiplier, shift)
    sums = div_steps(graph, x, y, a_zero_point, b_zero_point, factor)
    result = graph.rescale(sums, *ONE, INT8, output_zero_point=output_zero_point)
    return clamped(graph, result, activation_min, activation_max)


EMITTER = Emitter(
    emit, reject, adopts=ethos_u_div, not_int16="a table has the reciprocals of 8 bits only"
)
