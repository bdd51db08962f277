# SPDX-License-Identifier: Apache-2.0
"""pl::reshape as TOSA: RESHAPE."""

from __future__ import annotations

from collections.abc import Sequence

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.tosa import TosaGraph


def emit(graph: TosaGraph, input: TosaValue, shape: Sequence[int]) -> TosaValue:
    return graph.reshape(input, shape)


EMITTER = Emitter(emit, moves=True)
