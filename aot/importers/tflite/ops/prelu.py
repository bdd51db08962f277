# SPDX-License-Identifier: Apache-2.0
"""Import of PRELU: of int8, both branches as TFLite rounds them, and a choice."""

from __future__ import annotations

import torch
from torch.fx import Node

from aot.dialect.graph import Edge
from aot.dialect.quantization import INT8
from aot.importers.tflite.arithmetic import quantize_multiplier, requantized
from aot.importers.tflite.call import OperatorCall, Unsupported
from kernels.lut.op import lut
from kernels.mul.op import mul
from kernels.where.op import where


def prelu(call: OperatorCall) -> Node:
    x, slope, out = call.value(0), call.value(1), call.quantization
    of, of_slope = call.of(x), call.of(slope)
    if of.type is not INT8 or out.type is not INT8:
        raise Unsupported("int16 is not supported here; int8 is")
    every = of.every_value().to(torch.int64) - of.zero_point
    factor = quantize_multiplier(of.scale / out.scale)
    table = call.constant("table", requantized(every, factor, out))
    positive = call.emit(lut, x, table, edge=call.edge)
    negative = call.emit(
        mul,
        x,
        slope,
        of.zero_point,
        of_slope.zero_point,
        out.zero_point,
        *quantize_multiplier(of.scale * of_slope.scale / out.scale),
        out.type.quant_min,
        out.type.quant_max,
        edge=call.edge,
    )
    signs = call.emit(lut, x, call.constant("signs", every >= 0), edge=Edge())
    return call.emit(where, signs, positive, negative, edge=call.edge)
