# SPDX-License-Identifier: Apache-2.0
"""pl::lut: TABLE; int16 values also need a RESCALE. It reads the value before a reshape: directly
after a convolution Vela 5.1.0 compiles it for the convolution's shape.
"""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import INT16, INT32, TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.tosa import TosaGraph

_WHOLE = (1 << 23, 30)
"""Multiplier and shift that round off the 7 bits between entries of int16 tables."""
_ENTRIES = 513  # of an int16 table
_LARGEST_STEP = 32767  # between two entries


def reject(input: torch.Tensor, table: torch.Tensor) -> str:
    if (input.dtype is torch.int16) != (table.dtype is torch.int16):
        return f"its table goes from {input.dtype} to {table.dtype}"
    if input.dtype is torch.int16 and len(table) != _ENTRIES:
        return "it has a table for each number near zero as well, which the NPU's has not"
    steps = table.to(torch.int64).diff().abs()
    if input.dtype is torch.int16 and int(steps.max()) > _LARGEST_STEP:
        return f"two entries of its table differ by {int(steps.max())}, of at most {_LARGEST_STEP}"
    return ""


def emit(graph: TosaGraph, input: TosaValue, table: torch.Tensor) -> TosaValue:
    y = graph.table(graph.before_reshape(input), table)
    if y.dtype == INT32:
        y = graph.rescale(y, *_WHOLE, INT16)
    return graph.reshape(y, input.shape)


EMITTER = Emitter(emit, reject)
