# SPDX-License-Identifier: Apache-2.0
"""pl::max_pool2d: MAX_POOL2D; of tiles, and their MAXIMUM, with a stride above the NPU's limit."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.pools import bad_pool, maxima_of_tiles, tiles
from aot.backends.ethos_u.emitters.windows import fitted
from aot.backends.ethos_u.tosa import TosaGraph


def reject(
    input: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_size: Sequence[int],
) -> str:
    if max(dilation) > 1:
        return f"its dilation is {max(dilation)}: TOSA's pools have none"
    return bad_pool(input.shape, kernel, stride, padding, output_size, separable=True)


def emit(
    graph: TosaGraph,
    input: TosaValue,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_size: Sequence[int],
) -> TosaValue:
    x = input
    for d in tiles(x.shape, kernel, stride, padding, output_size, separable=True):
        x, kernel, stride, padding = maxima_of_tiles(
            graph, x, kernel, stride, padding, output_size, d
        )
    x, pads, strides = fitted(graph, x, kernel, stride, padding, dilation, output_size)
    if max(*kernel, *strides) == 1:
        return x
    return graph.max_pool2d(x, kernel, strides, pads)


EMITTER = Emitter(emit, reject)
