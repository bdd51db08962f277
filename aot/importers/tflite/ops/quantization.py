# SPDX-License-Identifier: Apache-2.0
"""Import of QUANTIZE and DEQUANTIZE: between float32 and integers, and between integers."""

from __future__ import annotations

import torch
from torch.fx import Node

from aot.dialect.quantization import INT8
from aot.importers.tflite import tables
from aot.importers.tflite.arithmetic import quantize_multiplier
from aot.importers.tflite.call import OperatorCall, Unsupported
from kernels.dequantize.op import dequantize as pl_dequantize
from kernels.lut.op import lut
from kernels.quantize.op import quantize as pl_quantize
from kernels.quantize.op import quantize_arguments
from kernels.quantize.op_requantize import requantize as pl_requantize


def quantize(call: OperatorCall) -> Node:
    """Import QUANTIZE. For float32 the dialect rounds ties to even; TFLite rounds them away from
    zero.
    """
    x, out = call.value(0), call.quantization
    if x.meta["val"].dtype is torch.float32:
        return call.emit(pl_quantize, x, *quantize_arguments(out), edge=call.edge)
    of = call.of(x)
    if of == out:
        return x
    if of.type is INT8 and out.type is INT8:
        return call.emit(lut, x, call.constant("table", tables.quantize(of, out)), edge=call.edge)
    factor = quantize_multiplier(of.scale / out.scale)
    bits = 8 * out.type.dtype.itemsize
    arguments = bits, of.zero_point, out.zero_point, *factor
    return call.emit(pl_requantize, x, *arguments, edge=call.edge)


def dequantize(call: OperatorCall) -> Node:
    x = call.value(0)
    of = call.of(x)
    if call.output.type != "FLOAT32":
        raise Unsupported(f"a result of {call.output.type}, not FLOAT32")
    return call.emit(pl_dequantize, x, of.scale, of.zero_point, edge=call.edge)
