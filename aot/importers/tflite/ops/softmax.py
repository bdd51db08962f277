# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX and LOG_SOFTMAX: they round once; TFLite's fixed-point arithmetic rounds often."""

from __future__ import annotations

import torch
from ethosu.vela.tflite.SoftmaxOptions import SoftmaxOptions
from torch.fx import Node

from aot.dialect.graph import Edge, shape_of
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.importers.tflite.arithmetic import float32, quantize_multiplier
from aot.importers.tflite.call import OperatorCall, Unsupported
from kernels.log_softmax.op import log_constants
from kernels.log_softmax.op import log_softmax as pl_log_softmax
from kernels.quantize.op_requantize import requantize
from kernels.softmax.op import (
    OUTPUT,
    WIDE_STEPS,
    exponential_table,
    wide_exponential_table,
)
from kernels.softmax.op import (
    softmax as pl_softmax,
)

_WIDER_BITS = 7  # differences of int8 values have 9 bits


def softmax(call: OperatorCall) -> Node:
    x, beta = call.value(0), call.options(SoftmaxOptions).Beta()
    of, out = call.of(x), call.quantization
    rank = len(shape_of(x))
    if not beta > 0.0 or rank == 0:
        raise Unsupported(f"beta {beta} over {rank} dimensions is not supported")
    wide = out.type is INT16
    wanted = Quantization(1.0 / WIDE_STEPS, 0, INT16) if wide else OUTPUT
    if out != wanted or (of.type is INT16 and not wide):
        raise Unsupported(f"a result of {out}, not {wanted}")
    if not wide:
        table, _ = exponential_table(float32(of.scale * beta), shape_of(x)[-1])
        return _softmax(call, x, table, 256)
    if of.type is INT8:
        x, of = _widened(call, x)
    table = wide_exponential_table(float32(of.scale * beta))
    result = _softmax(call, x, table, WIDE_STEPS)
    if call.output.was_halved:
        call.differs(result, "softmax of int8 to int16")
    return result


def log_softmax(call: OperatorCall) -> Node:
    x = call.value(0)
    of, out, last = call.of(x), call.quantization, len(shape_of(x)) - 1
    if last < 0 or of.type is not INT8 or out.type is not INT8:
        raise Unsupported(f"{of} over {last + 1} dimensions to {out}; only int8 to int8")
    table, bits, factors = log_constants(of, out, shape_of(x)[-1])
    constant = call.constant("exponentials", table)
    tail = last, bits, *factors, out.zero_point
    return call.emit(pl_log_softmax, x, constant, *tail, edge=call.edge)


def _softmax(call: OperatorCall, x: Node, table: torch.Tensor, steps: int) -> Node:
    constant, last = call.constant("exponentials", table), len(shape_of(x)) - 1
    return call.emit(pl_softmax, x, constant, last, steps, edge=call.edge)


def _widened(call: OperatorCall, x: Node) -> tuple[Node, Quantization]:
    """Return int8 values as int16 ones, exactly."""
    of = call.of(x)
    wide = Quantization(of.scale / 2.0**_WIDER_BITS, 0, INT16)
    factor = quantize_multiplier(2.0**_WIDER_BITS)
    return call.emit(requantize, x, 16, of.zero_point, 0, *factor, edge=Edge(wide)), wide
