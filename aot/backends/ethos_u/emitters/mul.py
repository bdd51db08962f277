# SPDX-License-Identifier: Apache-2.0
"""pl::mul: RESCALE of each operand to int32 without its zero point, MUL, RESCALE: one operation."""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.operands import aligned, bad_rank
from aot.backends.ethos_u.emitters.rescaling import requantized, span_of, too_large, widened
from aot.backends.ethos_u.tosa import TosaGraph


def reject(a: torch.Tensor, b: torch.Tensor, multiplier: int, shift: int, **_: int) -> str:
    return bad_rank(a, b) or too_large(torch.tensor(span_of(a) ** 2), multiplier, shift)


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
    x, y = aligned(graph, a, b)
    product = graph.mul(widened(graph, x, a_zero_point), widened(graph, y, b_zero_point))
    limits = activation_min, activation_max
    return requantized(graph, product, multiplier, shift, output_zero_point, *limits, dtype=x.dtype)


EMITTER = Emitter(emit, reject)
