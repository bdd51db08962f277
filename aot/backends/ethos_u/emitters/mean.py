# SPDX-License-Identifier: Apache-2.0
"""pl::mean: sums by a 1x1 CONV2D over rows with weights of 1, RESCALE. A row with more values than
the NPU has channels is several pixels of one window.

Sums over other than the last dimensions have two forms:

- The input is transposed first.
- If others read the input too: a DEPTHWISE_CONV2D with a kernel over all summed
  values.

The first form keeps two copies in memory if the input is also read untransposed. On U85
transpositions of many channels take longest. On U55 and U65 Vela books them too low;
`equal_forms/means_by_windows.py` has other forms, and the count of commands decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import INT32, INT48, TosaValue
from aot.backends.ethos_u.emitters.conv2d import bad_kernel
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import requantized, span_of, too_large
from aot.backends.ethos_u.emitters.windows import LARGEST_SIZE, bad_size
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu
from aot.dialect.library import reduced_shape

_LARGEST_HEIGHT = 64
_LARGEST_WIDTH = 64
_FITTED_MACS = 256


def summed(shape: Sequence[int], dim: Sequence[int]) -> tuple[int, int, int]:
    """Return x's shape as [outer, count, inner]; the sum is over the second."""
    first, last = min(dim), max(dim)
    return (
        math.prod(shape[:first]),
        math.prod(shape[first : last + 1]),
        math.prod(shape[last + 1 :]),
    )


def kernel_of(shape: Sequence[int], dim: Sequence[int]) -> tuple[int, int]:
    """Return rows and columns of a window over all summed values."""
    first, last = min(dim), max(dim)
    height, width = math.prod(shape[first:last]), shape[last]
    return (1, height * width) if height > _LARGEST_HEIGHT else (height, width)


def _pixels(count: int) -> int:
    """Return the least number of equal parts of a row that fit; 1 if there is none."""
    parts = range(-(-count // LARGEST_SIZE), _LARGEST_WIDTH + 1)
    return next((n for n in parts if count % n == 0), 1)


def reject(input: torch.Tensor, dim: Sequence[int], multiplier: int, shift: int, **_: int) -> str:
    if max(dim) - min(dim) >= len(dim):
        return f"it sums over dimensions {sorted(dim)}, which are not neighbours"
    outer, count, inner = summed(input.shape, dim)
    pixels = _pixels(count) if inner == 1 else 1
    problem = bad_size((1, inner, outer * inner, count // pixels))
    return problem or too_large(torch.tensor(count * span_of(input)), multiplier, shift)


def emit(
    graph: TosaGraph,
    input: TosaValue,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> TosaValue:
    outer, count, inner = summed(input.shape, dim)
    height, width = kernel_of(input.shape, dim)
    by_windows = graph.is_shared(input) or _transposes_slowly(graph.npu, outer * count, inner)
    if inner > 1 and by_windows and not bad_kernel((height, width), (1, 1)):
        x = graph.reshape(input, (outer, height, width, inner))
        weight = torch.ones(height, width, inner, 1)
        sums = graph.depthwise_conv2d(x, weight, [0] * inner, input_zero_point)
    else:
        x = input
        if inner > 1 and count > 1:
            x = graph.transpose(graph.reshape(x, (outer, count, inner)), (0, 2, 1))
        pixels = _pixels(count)
        width = count // pixels
        rows = (outer * inner, pixels) if pixels > 1 else (1, outer * inner)
        x = graph.reshape(x, (1, *rows, width))
        sums = graph.conv2d(x, torch.ones(1, 1, pixels, width), [0], input_zero_point)
    if sums.dtype == INT48:  # multiplied by 15 bits only
        sums = graph.for_rescale(graph.rescale(sums, 1 << 14, 14, INT32))
    y = requantized(graph, sums, multiplier, shift, output_zero_point, dtype=input.dtype)
    return graph.reshape(y, reduced_shape(input.shape, dim, keepdim))


def _transposes_slowly(npu: Npu, count: int, inner: int) -> bool:
    """Return True if Vela's cycles of the transposition, by a fitted model, exceed the windows'
    cycles.
    """
    if not npu.is_u85:
        return False
    windows = 1.45 * count * inner * _FITTED_MACS / npu.macs
    return max(0.75 * count * inner, inner**2 / 32) > windows


EMITTER = Emitter(emit, reject)
