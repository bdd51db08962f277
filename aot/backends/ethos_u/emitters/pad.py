# SPDX-License-Identifier: Apache-2.0
"""pl::pad as TOSA: PAD."""

from __future__ import annotations

from collections.abc import Sequence

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.tosa import TosaGraph


def emit(graph: TosaGraph, input: TosaValue, padding: Sequence[int], value: int) -> TosaValue:
    return graph.pad(graph.placed(input), padding, value)


EMITTER = Emitter(emit, moves=True)
