# SPDX-License-Identifier: Apache-2.0
"""pl::avg_pool2d: AVG_POOL2D of the unchanged values. It divides by the taps inside the input and
rounds ties away from zero, like the dialect. If padding counts, PAD comes first.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.pools import bad_pool, tiled, tiles
from aot.backends.ethos_u.emitters.windows import fitted
from aot.backends.ethos_u.tosa import TosaGraph

_LARGEST_PADDED = 8  # rows and columns of a kernel


def _padded(shape: Sequence[int], padding: Sequence[int]) -> list[int]:
    n, h, w, c = shape
    return [n, h + padding[0] + padding[1], w + padding[2] + padding[3], c]


def reject(
    input: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_size: Sequence[int],
    count_include_pad: bool,
    divisor_override: int,
    zero_point: int,
) -> str:
    if divisor_override > 0:
        return f"its sums are divided by {divisor_override}, not by what they are of"
    shape: Sequence[int] = input.shape
    if count_include_pad:
        shape, padding = _padded(shape, padding), (0, 0, 0, 0)
    if any(padding) and max(kernel) > _LARGEST_PADDED:
        return f"its kernel is {kernel[0]}x{kernel[1]}: with padding 8x8 is the largest"
    return bad_pool(shape, kernel, stride, padding, output_size, separable=False)


def emit(
    graph: TosaGraph,
    input: TosaValue,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_size: Sequence[int],
    count_include_pad: bool,
    divisor_override: int,
    zero_point: int,
) -> TosaValue:
    x = input
    if count_include_pad and any(padding):
        x = graph.pad(x, [0, 0, *padding, 0, 0], zero_point)
        padding = (0, 0, 0, 0)
    for d in tiles(x.shape, kernel, stride, padding, output_size, separable=False):
        y, _, _ = tiled(graph, x, kernel, stride, output_size, d, graph.avg_pool2d)
        return y  # the windows' other dimension is 1
    x, pads, strides = fitted(graph, x, kernel, stride, padding, (1, 1), output_size)
    return graph.avg_pool2d(x, kernel, strides, pads)


EMITTER = Emitter(emit, reject)
