# SPDX-License-Identifier: Apache-2.0
"""pl::slice: SLICE."""

from __future__ import annotations

import torch

from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.tosa import TosaGraph, Value


def reject(input: torch.Tensor, dim: int, start: int, end: int, step: int) -> str:
    return "" if step == 1 else f"its step is {step}: TOSA's slices are contiguous"


def emit(graph: TosaGraph, input: Value, dim: int, start: int, end: int, step: int) -> Value:
    starts, size = [0] * len(input.shape), list(input.shape)
    starts[dim], size[dim] = start, end - start
    return graph.slice(input, starts, size)


EMITTER = Emitter(emit, reject, moves=True)
