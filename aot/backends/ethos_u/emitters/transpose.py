# SPDX-License-Identifier: Apache-2.0
"""pl::transpose as TOSA: TRANSPOSE."""

from __future__ import annotations

from collections.abc import Sequence

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.tosa import TosaGraph


def emit(graph: TosaGraph, input: TosaValue, perm: Sequence[int]) -> TosaValue:
    return graph.transpose(input, perm)


EMITTER = Emitter(emit, moves=True)
