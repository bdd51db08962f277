# SPDX-License-Identifier: Apache-2.0
"""aten.softmax to pl::softmax, aten.log_softmax to pl::log_softmax."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.arithmetic import quantize_multiplier
from aot.dialect.graph import quantization_of, shape_of
from aot.dialect.library import Op
from aot.dialect.ops.log_softmax import DIFFERENCE_SHIFT, GUARD_BITS, log_softmax
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
        table, bits = exponential_table(quantization_of(x).scale, shape[dim])
        scale = call.output.scale / 2**GUARD_BITS
        return call.emit(
            log_softmax,
            x,
            call.constant("exp_table", table),
            dim,
            bits,
            *quantize_multiplier(quantization_of(x).scale / scale / 2**DIFFERENCE_SHIFT),
            *quantize_multiplier(math.log(2.0) / scale / 2**16),
            call.output.zero_point,
        )


_SOFTMAX, _LOG_SOFTMAX = torch.ops.aten.softmax.int, torch.ops.aten.log_softmax.int
FAMILY = Family({_SOFTMAX: Softmax(), _LOG_SOFTMAX: LogSoftmax()}, kept=(_SOFTMAX, _LOG_SOFTMAX))
