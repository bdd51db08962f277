# SPDX-License-Identifier: Apache-2.0
"""pl::adaptive_avg_pool2d: an AVG_POOL2D of the SLICE of each window, and CONCAT. (Windows of one
size become another op in lowering.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.adaptive_max_pool2d import window
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.pools import LARGEST_AREA, LARGEST_WIDTH
from aot.backends.ethos_u.emitters.windows import bad_size
from aot.backends.ethos_u.tosa import TosaGraph
from kernels.adaptive_max_pool2d.op import adaptive_window

_MOST_WINDOWS = 16


def reject(input: torch.Tensor, output_size: Sequence[int]) -> str:
    if math.prod(output_size) > _MOST_WINDOWS:
        return f"it has {math.prod(output_size)} windows, of at most {_MOST_WINDOWS}"
    height, width = (
        max(end - first for first, end in _windows(input.shape[1 + d], count))
        for d, count in enumerate(output_size)
    )
    if width > LARGEST_WIDTH or height * width > LARGEST_AREA:
        return (
            f"its windows are {height}x{width}, of at most {LARGEST_WIDTH} columns and "
            f"{LARGEST_AREA} in all"
        )
    return bad_size(input.shape)


def emit(graph: TosaGraph, input: TosaValue, output_size: Sequence[int]) -> TosaValue:
    rows = []
    for top, bottom in _windows(input.shape[1], output_size[0]):
        strip = window(graph, input, 0, top, bottom)
        cells = []
        for left, right in _windows(input.shape[2], output_size[1]):
            cell = window(graph, strip, 1, left, right)
            kernel = bottom - top, right - left
            cells.append(graph.avg_pool2d(cell, kernel, (1, 1), (0, 0, 0, 0)))
        rows.append(graph.concat(cells, 2) if len(cells) > 1 else cells[0])
    return graph.concat(rows, 1) if len(rows) > 1 else rows[0]


def _windows(size: int, count: int) -> list[tuple[int, int]]:
    return [adaptive_window(index, size, count) for index in range(count)]


EMITTER = Emitter(emit, reject)
