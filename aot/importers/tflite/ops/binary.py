# SPDX-License-Identifier: Apache-2.0
"""Import of ADD, SUB, MUL, MINIMUM and MAXIMUM, with broadcasting."""

from __future__ import annotations

from ethosu.vela.tflite.AddOptions import AddOptions
from ethosu.vela.tflite.MulOptions import MulOptions
from ethosu.vela.tflite.SubOptions import SubOptions
from torch.fx import Node

from aot.dialect.library import Op
from aot.importers.tflite.arithmetic import activation_range, add_factors, quantize_multiplier
from aot.importers.tflite.call import OperatorCall
from kernels.add.op import add as pl_add
from kernels.binary.op_maximum import maximum as pl_maximum
from kernels.binary.op_maximum import minimum as pl_minimum
from kernels.mul.op import mul as pl_mul


def add(call: OperatorCall) -> Node:
    return _sum(call, call.activation(call.options(AddOptions)), 1)


def sub(call: OperatorCall) -> Node:
    return _sum(call, call.activation(call.options(SubOptions)), -1)


def _sum(call: OperatorCall, activation: str, sign: int) -> Node:
    a, b, out = call.value(0), call.value(1), call.quantization
    of_a, of_b = call.of(a), call.of(b)
    a_factor, b_factor, bits, factor = add_factors(of_a, of_b, out, sign)
    return call.emit(
        pl_add,
        a,
        b,
        of_a.zero_point,
        *a_factor,
        of_b.zero_point,
        *b_factor,
        bits,
        out.zero_point,
        *factor,
        *activation_range(activation, out),
        edge=call.edge,
    )


def mul(call: OperatorCall) -> Node:
    activation = call.activation(call.options(MulOptions))
    a, b, out = call.value(0), call.value(1), call.quantization
    of_a, of_b = call.of(a), call.of(b)
    return call.emit(
        pl_mul,
        a,
        b,
        of_a.zero_point,
        of_b.zero_point,
        out.zero_point,
        *quantize_multiplier(of_a.scale * of_b.scale / out.scale),
        *activation_range(activation, out),
        edge=call.edge,
    )


def minimum(call: OperatorCall) -> Node:
    return _extreme(call, pl_minimum)


def maximum(call: OperatorCall) -> Node:
    return _extreme(call, pl_maximum)


def _extreme(call: OperatorCall, op: Op) -> Node:
    a, b = call.value(0), call.value(1)
    call.of(a)
    call.same_quantization(a, b)
    return call.emit(op, a, b, edge=call.edge)
