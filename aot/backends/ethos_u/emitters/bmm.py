# SPDX-License-Identifier: Apache-2.0
"""pl::bmm: MATMUL, RESCALE."""

from __future__ import annotations

import math

import torch

from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import requantized, too_large
from aot.backends.ethos_u.emitters.windows import bad_size
from aot.backends.ethos_u.tosa import TosaGraph, Value

_LARGEST = 255 * 255


def reject(
    a: torch.Tensor, b: torch.Tensor, transpose_b: bool, multiplier: int, shift: int, **_: int
) -> str:
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
    a_zero_point: int,
    b_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
    activation_min: int,
    activation_max: int,
) -> Value:
    x, y = (_batched(graph, graph.operand(v)) for v in (a, b))
    if transpose_b:
        y = graph.transpose(y, (0, 2, 1))
    # Vela 5.1.0 loses a slice in front of the first operand.
    sums = graph.matmul(graph.materialized(x), y, a_zero_point, b_zero_point)
    limits = activation_min, activation_max
    result = requantized(graph, sums, multiplier, shift, output_zero_point, *limits)
    return graph.reshape(result, (*a.shape[:-1], result.shape[-1]))


def _batched(graph: TosaGraph, x: Value) -> Value:
    return graph.reshape(x, (math.prod(x.shape[:-2]), *x.shape[-2:]))


EMITTER = Emitter(emit, reject)
