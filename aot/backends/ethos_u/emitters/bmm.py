# SPDX-License-Identifier: Apache-2.0
"""pl::bmm: MATMUL, RESCALE."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import requantized, too_large
from aot.backends.ethos_u.emitters.windows import bad_size
from aot.backends.ethos_u.tosa import TosaGraph, Value

_LARGEST = 255 * 255


def reject(
    a: torch.Tensor,
    b: torch.Tensor,
    transpose_b: bool,
    a_order: Sequence[int],
    b_order: Sequence[int],
    multiplier: int,
    shift: int,
    **_: int,
) -> str:
    a, b = (x.permute(*order) if order else x for x, order in ((a, a_order), (b, b_order)))
    if a.shape[:-2] != b.shape[:-2]:
        return "one of its operands is broadcast"
    batch = math.prod(a.shape[:-2])
    problem = bad_size((1, batch, *a.shape[-2:])) or bad_size((1, batch, *b.shape[-2:]))
    return problem or too_large(torch.tensor(a.shape[-1] * _LARGEST), multiplier, shift)


def emit(
    graph: TosaGraph,
    a: Value | torch.Tensor,
    b: Value | torch.Tensor,
    transpose_b: bool,
    a_order: Sequence[int],
    b_order: Sequence[int],
    a_zero_point: int,
    b_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
    activation_min: int,
    activation_max: int,
) -> Value:
    left, right = (
        graph.transpose(graph.operand(v), order) if order else graph.operand(v)
        for v, order in ((a, a_order), (b, b_order))
    )
    x, y = (_batched(graph, v) for v in (left, right))
    if transpose_b:
        y = graph.transpose(y, (0, 2, 1))
    # Vela 5.1.0 loses a slice in front of the first operand.
    sums = graph.matmul(graph.materialized(x), y, a_zero_point, b_zero_point)
    limits = activation_min, activation_max
    result = requantized(graph, sums, multiplier, shift, output_zero_point, *limits)
    return graph.reshape(result, (*left.shape[:-1], result.shape[-1]))


def _batched(graph: TosaGraph, x: Value) -> Value:
    return graph.reshape(x, (math.prod(x.shape[:-2]), *x.shape[-2:]))


EMITTER = Emitter(emit, reject)
