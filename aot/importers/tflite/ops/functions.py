# SPDX-License-Identifier: Apache-2.0
"""Functions of one int8 value, each a table (tables.py): LOGISTIC, TANH, HARD_SWISH, LEAKY_RELU,
RELU, RELU6.
"""

from __future__ import annotations

from functools import partial

from ethosu.vela.tflite.LeakyReluOptions import LeakyReluOptions
from torch.fx import Node

from aot.dialect.ops.lut import lut
from aot.dialect.quantization import INT8
from aot.importers.tflite import tables
from aot.importers.tflite.arithmetic import nearest
from aot.importers.tflite.call import Call
from aot.importers.tflite.clamps import within


def _table(call: Call, table: tables.Table) -> Node:
    x = call.value(0)
    entries = table(call.of(x), call.quantization)
    return call.emit(lut, x, call.constant("table", entries), edge=call.edge)


def logistic(call: Call) -> Node:
    return _table(call, tables.logistic)


def tanh(call: Call) -> Node:
    return _table(call, tables.tanh)


def hard_swish(call: Call) -> Node:
    return _table(call, tables.hard_swish)


def leaky_relu(call: Call) -> Node:
    alpha = call.options(LeakyReluOptions).Alpha()
    return _table(call, partial(tables.leaky_relu, alpha=alpha))


def relu(call: Call) -> Node:
    return _table(call, tables.relu)


def relu6(call: Call) -> Node:
    x = call.value(0)
    of = call.of(x)
    call.same_quantization(x)
    if of.type is INT8:
        return _table(call, tables.relu6)
    return within(call, x, of, 0, min(of.type.quant_max, nearest(6.0, of)))
