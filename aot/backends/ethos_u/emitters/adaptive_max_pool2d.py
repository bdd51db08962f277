# SPDX-License-Identifier: Apache-2.0
"""pl::adaptive_max_pool2d: rows, then columns. Each is a MAX_POOL2D over adjacent windows. If
windows differ, each is a MAX_POOL2D of a SLICE, and CONCAT.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.pools import LARGEST_WIDTH, tiled
from aot.backends.ethos_u.emitters.windows import bad_size
from aot.backends.ethos_u.tosa import TosaGraph
from kernels.adaptive_max_pool2d.op import adaptive_window

_MOST_SLICES = 16


def reject(input: torch.Tensor, output_size: Sequence[int]) -> str:
    for d, count in enumerate(output_size):
        size = input.shape[1 + d]
        if size % count and count > _MOST_SLICES:
            return f"its windows are {count} slices, of at most {_MOST_SLICES}"
        if -(-size // count) >= LARGEST_WIDTH:
            return f"its windows are {size // count} wide, of at most {LARGEST_WIDTH}"
    return bad_size(input.shape)


def emit(graph: TosaGraph, input: TosaValue, output_size: Sequence[int]) -> TosaValue:
    x = input
    for d, count in enumerate(output_size):
        size = x.shape[1 + d]
        if size == count:
            continue
        kernel = [1, 1]
        if size % count == 0:
            kernel[d] = size // count
            counts = [*output_size[: d + 1], *x.shape[2 + d : 3]]
            x, _, _ = tiled(graph, x, kernel, kernel, counts, d, graph.max_pool2d)
        else:
            parts = []
            for index in range(count):
                first, end = adaptive_window(index, size, count)
                kernel[d] = end - first
                y = window(graph, x, d, first, end)
                parts.append(graph.max_pool2d(y, kernel, (1, 1), (0, 0, 0, 0)))
            x = graph.concat(parts, 1 + d)
    return x


def window(graph: TosaGraph, x: TosaValue, d: int, first: int, end: int) -> TosaValue:
    """Return a window's rows (d = 0) or columns (d = 1)."""
    start, size = [0] * 4, list(x.shape)
    start[1 + d], size[1 + d] = first, end - first
    return graph.materialized(graph.slice(x, start, size))


EMITTER = Emitter(emit, reject)
