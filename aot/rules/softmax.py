# SPDX-License-Identifier: Apache-2.0
"""aten.softmax to pl::softmax, aten.log_softmax to pl::log_softmax."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import quantization_of, shape_of
from aot.dialect.library import Op
from aot.dialect.ops.log_softmax import log_constants, log_softmax
from aot.dialect.ops.softmax import (
    OUTPUT,
    WIDE_STEPS,
    exponential_table,
    softmax,
    wide_exponential_table,
)
from aot.dialect.quantization import INT16, Quantization
from aot.rules.rule import Call, Family, Fixed, Output, UnaryRule, argument


def tables(source: Quantization, result: Quantization, length: int) -> tuple[torch.Tensor, int]:
    """exp_table and steps of pl::softmax over rows of a length."""
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
        table, steps = tables(quantization_of(x), call.output, shape[dim])
        return call.emit(softmax, x, call.constant("exp_table", table), dim, steps)


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
