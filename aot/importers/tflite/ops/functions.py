# SPDX-License-Identifier: Apache-2.0
"""Pointwise functions: LOGISTIC, TANH, HARD_SWISH, LEAKY_RELU, RELU, RELU6.

For int8 each is a table (tables.py). For int16 the piecewise linear ones are requantizations,
minimum and maximum with TFLite's bits. LOGISTIC and TANH use the straight lines of pl::lut; these
are more accurate than TFLite's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from ethosu.vela.tflite.LeakyReluOptions import LeakyReluOptions
from torch.fx import Node

from aot.dialect.graph import Edge
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.importers.tflite import tables
from aot.importers.tflite.arithmetic import nearest, quantize_multiplier
from aot.importers.tflite.call import OperatorCall, Unsupported
from aot.importers.tflite.clamps import within
from kernels.binary.op_maximum import maximum, minimum
from kernels.lut.op import lut, table_of
from kernels.quantize.op_requantize import requantize

_OF_INT16 = Quantization(1.0 / 32768.0, 0, INT16)
"""Output quantization of int16 LOGISTIC and TANH."""


def _table(call: OperatorCall, table: tables.Table) -> Node:
    x = call.value(0)
    try:
        entries = table(call.of(x), call.quantization)
    except ValueError as reason:
        raise Unsupported(str(reason)) from reason
    return call.emit(lut, x, call.constant("table", entries), edge=call.edge)


def _lines(
    call: OperatorCall,
    table: tables.Table,
    function: Callable[[torch.Tensor], torch.Tensor],
    reach: float,
) -> Node:
    """Return a table for int8, straight lines for int16.

    The result is the largest value from `reach` on. Inputs are saturated there first, so that the
    lines lie closer together.
    """
    x = call.value(0)
    of, out = call.of(x), call.quantization
    if of.type is INT8:
        return _table(call, table)
    if out != _OF_INT16:
        raise Unsupported(f"a result of {out}, not {_OF_INT16}")
    if of.scale * 2.0**15 > reach:
        near = Quantization(reach / 2.0**15, 0, INT16)
        factor = quantize_multiplier(of.scale / near.scale)
        x, of = call.emit(requantize, x, 16, 0, 0, *factor, edge=Edge(near)), near
    entries = table_of(function, of, out)
    return call.emit(lut, x, call.constant("table", entries), edge=call.edge)


def logistic(call: OperatorCall) -> Node:
    return _lines(call, tables.logistic, torch.sigmoid, reach=12.0)


def tanh(call: OperatorCall) -> Node:
    return _lines(call, tables.tanh, torch.tanh, reach=6.0)


def hard_swish(call: OperatorCall) -> Node:
    return _table(call, tables.hard_swish)


def leaky_relu(call: OperatorCall) -> Node:
    alpha = call.options(LeakyReluOptions).Alpha()
    x, out = call.value(0), call.quantization
    of = call.of(x)
    if of.type is INT8:
        return _table(call, partial(tables.leaky_relu, alpha=alpha))
    if not 0.0 <= alpha < math.inf:
        raise Unsupported(f"alpha is {alpha}; it must be 0 or more for int16")
    if alpha == 0.0:
        return relu(call)
    negative = _scaled(call, x, of.scale * alpha / out.scale)
    positive = _scaled(call, x, of.scale / out.scale)
    # Both are monotonous: the steeper one is above where x is positive, below where it is not.
    choice = maximum if alpha <= 1.0 else minimum
    return call.emit(choice, positive, negative, edge=call.edge)


def relu(call: OperatorCall) -> Node:
    x, out = call.value(0), call.quantization
    of = call.of(x)
    if of.type is INT8:
        return _table(call, tables.relu)
    scaled = _scaled(call, x, of.scale / out.scale)
    return within(call, scaled, out, 0, out.type.quant_max)


def _scaled(call: OperatorCall, x: Node, factor: float) -> Node:
    """Return int16 times a factor."""
    if call.of(x).type is not INT16 or call.quantization.type is not INT16:
        raise Unsupported("it mixes int8 and int16 values")
    return call.emit(requantize, x, 16, 0, 0, *quantize_multiplier(factor), edge=call.edge)


def relu6(call: OperatorCall) -> Node:
    x = call.value(0)
    of = call.of(x)
    call.same_quantization(x)
    if of.type is INT8:
        return _table(call, tables.relu6)
    return within(call, x, of, 0, min(of.type.quant_max, nearest(6.0, of)))
