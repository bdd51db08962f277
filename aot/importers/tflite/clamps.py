# SPDX-License-Identifier: Apache-2.0
"""Clamps as ops of their own."""

from __future__ import annotations

import torch
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.dialect.quantization import INT8, Quantization
from aot.importers.tflite.arithmetic import activation_range
from aot.importers.tflite.call import OperatorCall
from kernels.binary.op_maximum import maximum, minimum
from kernels.lut.op import lut


def clamped(call: OperatorCall, x: Node, activation: str) -> Node:
    """Return a value after a fused activation, with the same quantization."""
    of = call.of(x)
    return within(call, x, of, *activation_range(activation, of))


def within(call: OperatorCall, x: Node, of: Quantization, low: int, high: int) -> Node:
    """Return a value clamped to integers: of int8 by a table, of int16 by its extremes."""
    if (low, high) == (of.type.quant_min, of.type.quant_max):
        return x
    edge = x.meta["edge"]
    if of.type is INT8:
        table = of.every_value().clamp(low, max(low, high))
        return call.emit(lut, x, call.constant("table", table), edge=edge)
    shape = [1] if shape_of(x) else []
    limits = [torch.full(shape, limit, dtype=of.type.dtype) for limit in (low, high)]
    at_least, at_most = (call.constant("limit", limit, edge) for limit in limits)
    return call.emit(minimum, call.emit(maximum, x, at_least, edge=edge), at_most, edge=edge)
