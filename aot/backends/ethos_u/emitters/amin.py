# SPDX-License-Identifier: Apache-2.0
"""pl::amin: amax of what a TABLE mirrors, mirrored back."""

from __future__ import annotations

from collections.abc import Sequence

from aot.backends.ethos_u.emitters import amax
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.tosa import TosaGraph, Value

_MIRROR = range(127, -129, -1)


def emit(graph: TosaGraph, input: Value, dim: Sequence[int], keepdim: bool) -> Value:
    y = amax.emit(graph, graph.table(input, _MIRROR), dim, keepdim)
    return graph.reshape(graph.table(graph.before_reshape(y), _MIRROR), y.shape)


EMITTER = Emitter(emit, amax.reject)
