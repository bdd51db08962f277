# SPDX-License-Identifier: Apache-2.0
"""pl::minimum as TOSA: MINIMUM in int32 between two RESCALEs by 1; the three are one operation."""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.operands import aligned, bad_rank
from aot.backends.ethos_u.emitters.rescaling import narrowed, widened
from aot.backends.ethos_u.tosa import TosaGraph


def reject(a: torch.Tensor, b: torch.Tensor) -> str:
    return bad_rank(a, b)


def emit(graph: TosaGraph, a: TosaValue | torch.Tensor, b: TosaValue | torch.Tensor) -> TosaValue:
    x, y = aligned(graph, a, b)
    smaller = graph.minimum(widened(graph, x, 0), widened(graph, y, 0))
    return narrowed(graph, smaller, x.dtype)


EMITTER = Emitter(emit, reject)
