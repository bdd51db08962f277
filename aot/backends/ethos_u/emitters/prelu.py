# SPDX-License-Identifier: Apache-2.0
"""pl::prelu: MAXIMUM with 0 times the slope of 1, plus MINIMUM with 0 times the slope, in int32,
then RESCALE.
"""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import INT16, INT32, TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.operands import aligned, bad_rank
from aot.backends.ethos_u.emitters.rescaling import requantized, span_of, too_large, widened
from aot.backends.ethos_u.tosa import TosaGraph


def reject(input: torch.Tensor, slope: torch.Tensor, multiplier: int, shift: int, **_: int) -> str:
    return bad_rank(input, slope) or too_large(torch.tensor(span_of(input) ** 2), multiplier, shift)


def emit(
    graph: TosaGraph,
    input: TosaValue,
    slope: TosaValue | torch.Tensor,
    input_zero_point: int,
    one: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> TosaValue:
    x, y = aligned(graph, input, slope)
    scalar = (1,) * len(x.shape)
    zero = graph.constant(torch.zeros(scalar), INT32)
    unit = graph.constant(torch.full(scalar, one), INT32)
    positive = graph.mul(graph.maximum(widened(graph, x, input_zero_point), zero), unit)
    negative = graph.minimum(widened(graph, x, input_zero_point), zero)
    negative = graph.mul(negative, widened(graph, y, 0))
    sums = graph.add(positive, negative)
    if x.dtype == INT16:  # int16 products are rounded once
        return graph.rescale(sums, multiplier, 31 - shift, INT16)
    return requantized(graph, sums, multiplier, shift, output_zero_point)


EMITTER = Emitter(emit, reject)
