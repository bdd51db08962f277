# SPDX-License-Identifier: Apache-2.0
"""Lowering of softmax over the positions kept by a mask, to pl::masked_softmax.

ATen has no such op. Users write it as an addition of minus infinity, and no observer can derive a
scale from infinity. decompose_attention.py and mask_softmax.py in aot/passes/aten/attention convert
this pattern.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import Edge, quantization_of, shape_of, tensor_constant
from aot.dialect.library import Op
from aot.dialect.rule import Call, Family, Fixed, Output, UnaryRule, argument
from aot.rules.softmax import own_result, tables
from aot.rules.unary import requantized
from kernels.masked_softmax.op import masked_softmax
from kernels.softmax.op import OUTPUT

_LIBRARY = torch.library.Library("pl_float", "FRAGMENT")
_LIBRARY.define("masked_softmax(Tensor input, Tensor mask) -> Tensor")


def _masked_softmax(input: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    scores = input.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, -1).masked_fill(~mask, 0.0)


_LIBRARY.impl("masked_softmax", _masked_softmax, "CompositeExplicitAutograd")
MASKED_SOFTMAX = torch.ops.pl_float.masked_softmax.default
"""(input float32 [..., N], mask bool): softmax over the last dimension, of the elements with a true
mask, which broadcasts. The result is 0 elsewhere, and in a row without any.
"""


class MaskedSoftmax(UnaryRule):
    output: ClassVar[Output] = Fixed(OUTPUT, finer=True)

    def op(self, node: Node) -> Op:
        return masked_softmax

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        given = argument(call.node, "mask")
        known = tensor_constant(call.module, given)
        mask = call.unquantized(given) if known is None else call.constant("mask", known)
        own = own_result(quantization_of(x), call.output)
        table, steps = tables(quantization_of(x), own, shape_of(x)[-1])
        exp_table = call.constant("exp_table", table)
        y = call.emit(masked_softmax, x, mask, exp_table, steps, edge=Edge(own))
        return requantized(call, y, call.output)


FAMILY = Family({MASKED_SOFTMAX: MaskedSoftmax()})
