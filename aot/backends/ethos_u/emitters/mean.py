# SPDX-License-Identifier: Apache-2.0
"""pl::mean: sums by a convolution with weights of 1, RESCALE. Over the last dimensions that is a
CONV2D of 1x1 over rows, over others a DEPTHWISE_CONV2D whose kernel is all that is summed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.backends.ethos_u.emitters.conv2d import bad_kernel
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import requantized, too_large
from aot.backends.ethos_u.emitters.windows import bad_size
from aot.backends.ethos_u.tosa import TosaGraph, Value
from aot.dialect.library import reduced_shape

_SPAN = 255
_LARGEST_HEIGHT = 64


def _summed(shape: Sequence[int], dim: Sequence[int]) -> tuple[int, int, int, int]:
    """x as [outer, height, width, inner], summed over height and width."""
    first, last = min(dim), max(dim)
    height, width = math.prod(shape[first:last]), shape[last]
    if height > _LARGEST_HEIGHT:
        height, width = 1, height * width
    return math.prod(shape[:first]), height, width, math.prod(shape[last + 1 :])


def reject(input: torch.Tensor, dim: Sequence[int], multiplier: int, shift: int, **_: int) -> str:
    if max(dim) - min(dim) >= len(dim):
        return f"it sums over dimensions {sorted(dim)}, which are not neighbours"
    outer, height, width, inner = _summed(input.shape, dim)
    count = height * width
    if inner == 1:
        problem = bad_size((1, 1, outer, count))
    else:
        problem = bad_kernel((height, width), (1, 1)) or bad_size((outer, height, width, inner))
    return problem or too_large(torch.tensor(count * _SPAN), multiplier, shift)


def emit(
    graph: TosaGraph,
    input: Value,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> Value:
    outer, height, width, inner = _summed(input.shape, dim)
    if inner == 1:
        count = height * width
        x = graph.reshape(input, (1, 1, outer, count))
        sums = graph.conv2d(x, torch.ones(1, 1, 1, count), [0], input_zero_point)
    else:
        x = graph.reshape(input, (outer, height, width, inner))
        weight = torch.ones(height, width, inner, 1)
        sums = graph.depthwise_conv2d(x, weight, [0] * inner, input_zero_point)
    y = requantized(graph, sums, multiplier, shift, output_zero_point)
    return graph.reshape(y, reduced_shape(input.shape, dim, keepdim))


EMITTER = Emitter(emit, reject)
