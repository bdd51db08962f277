# SPDX-License-Identifier: Apache-2.0
"""pl::bmm as TOSA: MATMUL, RESCALE. Broadcast operands become a CONCAT of copies first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import (
    in_15_bits,
    requantized,
    span_of,
    too_large_sums,
)
from aot.backends.ethos_u.emitters.windows import bad_size
from aot.backends.ethos_u.tosa import TosaGraph

_MOST_COPIES = 16


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
    batch = math.prod(torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    copies = batch // min(math.prod(x.shape[:-2]) for x in (a, b))
    if copies > _MOST_COPIES:
        return f"one of its operands is broadcast {copies} times, of at most {_MOST_COPIES}"
    problem = bad_size((1, batch, *a.shape[-2:])) or bad_size((1, batch, *b.shape[-2:]))
    return problem or too_large_sums(
        a, torch.tensor(a.shape[-1] * span_of(a) ** 2), multiplier, shift
    )


def emit(
    graph: TosaGraph,
    a: TosaValue | torch.Tensor,
    b: TosaValue | torch.Tensor,
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
) -> TosaValue:
    left, right = (
        graph.transpose(graph.operand(v), order) if order else graph.operand(v)
        for v, order in ((a, a_order), (b, b_order))
    )
    batch = torch.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    x, y = (_batched(graph, _repeated(graph, v, batch)) for v in (left, right))
    if transpose_b:
        y = graph.transpose(y, (0, 2, 1))
    # Vela 5.1.0 loses a slice before the first operand.
    sums = graph.matmul(graph.materialized(x), y, a_zero_point, b_zero_point)
    limits = activation_min, activation_max
    result = requantized(graph, sums, multiplier, shift, output_zero_point, *limits)
    return graph.reshape(result, (*batch, left.shape[-2], result.shape[-1]))


def _repeated(graph: TosaGraph, x: TosaValue, batch: Sequence[int]) -> TosaValue:
    """Return x [..., rows, columns] with these leading dimensions."""
    missing = len(batch) + 2 - len(x.shape)
    x = graph.reshape(x, (1,) * missing + tuple(x.shape))
    for dim, count in enumerate(batch):
        if x.shape[dim] != count:
            outer, inner = math.prod(x.shape[:dim]), math.prod(x.shape[dim + 1 :])
            row = graph.reshape(x, (outer, 1, inner))
            copies = graph.concat([row] * count, 1)
            x = graph.reshape(copies, (*x.shape[:dim], count, *x.shape[dim + 1 :]))
    return x


def _batched(graph: TosaGraph, x: TosaValue) -> TosaValue:
    return graph.reshape(x, (math.prod(x.shape[:-2]), *x.shape[-2:]))


def _adapt(a: torch.Tensor, multiplier: int, shift: int, **_: Any) -> Mapping[str, Any]:
    return in_15_bits(a, multiplier, shift)


EMITTER = Emitter(
    emit,
    reject,
    adapt=_adapt,
    not_int16="its products of two computed matrices are of int8",
    int16_on_u85=True,
)
