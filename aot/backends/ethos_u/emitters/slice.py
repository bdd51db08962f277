# SPDX-License-Identifier: Apache-2.0
"""pl::slice: SLICE. With a step: PAD or SLICE to whole steps, then SLICE of the first of each."""

from __future__ import annotations

import math

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.tosa import TosaGraph


def emit(
    graph: TosaGraph, input: TosaValue, dim: int, start: int, end: int, step: int
) -> TosaValue:
    size = list(input.shape)
    if step == 1:
        return _range(graph, input, dim, start, end)
    count = -(-(end - start) // step)
    x = _range(graph, input, dim, start, min(start + count * step, size[dim]))
    missing = count * step - x.shape[dim]
    if missing:
        padding = [0] * (2 * len(size))
        padding[2 * dim + 1] = missing
        x = graph.pad(x, padding, 0)
    outer, inner = math.prod(size[:dim]), math.prod(size[dim + 1 :])
    x = graph.reshape(graph.materialized(x), (outer * count, step, inner))
    first = graph.slice(x, [0, 0, 0], (outer * count, 1, inner))
    return graph.reshape(first, (*size[:dim], count, *size[dim + 1 :]))


def _range(graph: TosaGraph, x: TosaValue, dim: int, start: int, end: int) -> TosaValue:
    starts, size = [0] * len(x.shape), list(x.shape)
    starts[dim], size[dim] = start, end - start
    return graph.slice(x, starts, size)


EMITTER = Emitter(emit, moves=True)
