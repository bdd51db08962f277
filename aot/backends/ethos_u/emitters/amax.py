# SPDX-License-Identifier: Apache-2.0
"""pl::amax: MAX_POOL2D. Vela 5.1.0 compiles it correctly, but loses values around a REDUCE_MAX."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.windows import bad_size
from aot.backends.ethos_u.ops.exponentials import windows
from aot.backends.ethos_u.tosa import TosaGraph
from aot.dialect.library import reduced_shape


def reject(input: torch.Tensor, dim: Sequence[int], keepdim: bool) -> str:
    if max(dim) - min(dim) >= len(dim):
        return f"it is over dimensions {sorted(dim)}, which are not neighbours"
    outer, count, inner = _cut(input.shape, dim)
    if windows(count) is None:
        return f"{count} values, which no window of at most 256x256 covers"
    return bad_size((1, 1, outer, inner))


def emit(graph: TosaGraph, input: TosaValue, dim: Sequence[int], keepdim: bool) -> TosaValue:
    outer, count, inner = _cut(input.shape, dim)
    size = windows(count)
    assert size is not None
    y = graph.max_pool2d(
        graph.reshape(graph.materialized(input), (outer, *size, inner)), size, (1, 1), (0, 0, 0, 0)
    )
    return graph.reshape(y, reduced_shape(input.shape, dim, keepdim))


def _cut(shape: Sequence[int], dim: Sequence[int]) -> tuple[int, int, int]:
    """Return the input's shape as [outer, count, inner]; the maximum is over count."""
    first, last = min(dim), max(dim) + 1
    return math.prod(shape[:first]), math.prod(shape[first:last]), math.prod(shape[last:])


EMITTER = Emitter(emit, reject)
