# SPDX-License-Identifier: Apache-2.0
"""Lowering of aten.softmax to pl::softmax and aten.log_softmax to pl::log_softmax."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import Edge, quantization_of, shape_of
from aot.dialect.library import Op
from aot.dialect.quantization import INT16, Quantization
from aot.dialect.rule import Call, Family, Fixed, Output, UnaryRule, argument
from aot.rules.unary import requantized
from kernels.log_softmax.op import log_constants, log_softmax
from kernels.softmax.op import (
    OUTPUT,
    WIDE_STEPS,
    exponential_table,
    softmax,
    wide_exponential_table,
)

_FINEST = 2**18
"""Upper limit for the steps of an int8 result."""


def own_result(source: Quantization, wanted: Quantization) -> Quantization:
    """Return the quantization of pl::softmax and similar ops for any requested one.

    It has the scale 1 / n, is no coarser and holds as much.
    """
    if source.type is INT16:
        return Quantization(1.0 / WIDE_STEPS, 0, INT16)
    given = Quantization(wanted.scale, OUTPUT.zero_point)
    if wanted == given and abs(round(1.0 / wanted.scale) * wanted.scale - 1.0) < 2.0**-20:
        return wanted
    high = wanted.scale * (wanted.type.quant_max - wanted.zero_point)
    return Quantization(1.0 / min(int(255.0 / max(high, 1.0 / _FINEST)), _FINEST), -128)


def tables(source: Quantization, result: Quantization, length: int) -> tuple[torch.Tensor, int]:
    """Return exp_table and steps of pl::softmax over rows of a length."""
    if source.type is INT16:
        return wide_exponential_table(source.scale), WIDE_STEPS
    steps = round(1.0 / result.scale)
    return exponential_table(source.scale, length, steps)[0], steps


class Softmax(UnaryRule):
    output: ClassVar[Output] = Fixed(OUTPUT, finer=True)

    def op(self, node: Node) -> Op:
        return softmax

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        shape = shape_of(x)
        dim = int(argument(call.node, "dim")) % len(shape)
        own = own_result(quantization_of(x), call.output)
        table, steps = tables(quantization_of(x), own, shape[dim])
        exp_table = call.constant("exp_table", table)
        y = call.emit(softmax, x, exp_table, dim, steps, edge=Edge(own))
        return requantized(call, y, call.output)


class LogSoftmax(UnaryRule):
    def op(self, node: Node) -> Op:
        return log_softmax

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        shape = shape_of(x)
        dim = int(argument(call.node, "dim")) % len(shape)
        table, bits, factors = log_constants(quantization_of(x), call.output, shape[dim])
        exp_table = call.constant("exp_table", table)
        arguments = (exp_table, dim, bits, *factors, call.output.zero_point)
        return call.emit(log_softmax, x, *arguments)


_SOFTMAX, _LOG_SOFTMAX = torch.ops.aten.softmax.int, torch.ops.aten.log_softmax.int
FAMILY = Family({_SOFTMAX: Softmax(), _LOG_SOFTMAX: LogSoftmax()}, kept=(_SOFTMAX, _LOG_SOFTMAX))
