# SPDX-License-Identifier: Apache-2.0
"""pl::cumsum: a 1x1 CONV2D over rows with a triangle of weights, RESCALE. Int8 sums have the guard
bits that such weights can hold; the core has up to 22.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import (
    in_15_bits,
    requantized,
    span_of,
    too_large_sums,
)
from aot.backends.ethos_u.tosa import TosaGraph

_LARGEST_COUNT = 512
_WEIGHT_BITS = 6


def reject(
    input: torch.Tensor, dim: int, left_shift: int, multiplier: int, shift: int, **_: int
) -> str:
    count = input.shape[dim]
    if count > _LARGEST_COUNT:
        return f"it adds {count} values up, of at most {_LARGEST_COUNT}: its weights are a triangle"
    largest = torch.tensor(count * span_of(input) << left_shift)
    return too_large_sums(input, largest, multiplier, shift)


def emit(
    graph: TosaGraph,
    input: TosaValue,
    dim: int,
    left_shift: int,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> TosaValue:
    shape, count = input.shape, input.shape[dim]
    outer, inner = math.prod(shape[:dim]), math.prod(shape[dim + 1 :])
    x = input
    if inner > 1 and count > 1:
        x = graph.transpose(graph.reshape(x, (outer, count, inner)), (0, 2, 1))
    x = graph.reshape(x, (1, 1, outer * inner, count))
    weight = torch.full((count, count), 1 << left_shift).tril().reshape(count, 1, 1, count)
    sums = graph.conv2d(x, weight, [0] * count, input_zero_point)
    y = requantized(graph, sums, multiplier, shift, output_zero_point, dtype=input.dtype)
    if inner > 1 and count > 1:
        y = graph.transpose(graph.reshape(y, (outer, inner, count)), (0, 2, 1))
    return graph.reshape(y, shape)


def _adapt(
    input: torch.Tensor, left_shift: int, multiplier: int, shift: int, **_: int
) -> Mapping[str, int]:
    fewer = max(0, left_shift - _WEIGHT_BITS)
    kept = {"left_shift": left_shift - fewer, "shift": shift + fewer}
    return {**kept, **in_15_bits(input, multiplier, shift)}


EMITTER = Emitter(emit, reject, adapt=_adapt)
