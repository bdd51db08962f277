# SPDX-License-Identifier: Apache-2.0
"""pl::amin: amax of mirrored values, mirrored back: int8 by a TABLE, int16 by a SUB."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aot.backends.ethos_u.block import INT8, INT32, TosaValue
from aot.backends.ethos_u.emitters import amax
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import narrowed, widened
from aot.backends.ethos_u.tosa import TosaGraph

_MIRROR = range(127, -129, -1)


def emit(graph: TosaGraph, input: TosaValue, dim: Sequence[int], keepdim: bool) -> TosaValue:
    y = amax.emit(graph, _mirrored(graph, input), dim, keepdim)
    return graph.reshape(_mirrored(graph, graph.before_reshape(y)), y.shape)


def _mirrored(graph: TosaGraph, x: TosaValue) -> TosaValue:
    """Return -1 - x."""
    if x.dtype == INT8:
        return graph.table(x, _MIRROR)
    last = graph.constant(np.full((1,) * len(x.shape), -1), INT32)
    return narrowed(graph, graph.sub(last, widened(graph, x, 0)), x.dtype)


EMITTER = Emitter(emit, amax.reject)
