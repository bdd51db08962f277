# SPDX-License-Identifier: Apache-2.0
"""aten.add, sub and mul of two tensors to pl::add and pl::mul."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.arithmetic import quantize_multiplier
from aot.dialect.graph import quantization_of
from aot.dialect.library import Op
from aot.dialect.ops.add import add
from aot.dialect.ops.mul import mul
from aot.rules.rule import Call, Family, Observed, Output, argument

_ADD = torch.ops.aten.add.Tensor
_SUB = torch.ops.aten.sub.Tensor
_MUL = torch.ops.aten.mul.Tensor

LEFT_SHIFT = 20  # guard bits of TFLite's int8 ADD


class Binary:
    output: ClassVar[Output] = Observed()
    fuses_clamp: ClassVar[bool] = True

    def activations(self, node: Node) -> list[Node]:
        return [a for a in node.args[:2] if isinstance(a, Node)]

    def weights(self, node: Node) -> Node | None:
        return None

    def op(self, node: Node) -> Op:
        return mul if node.target is _MUL else add

    def reject(self, node: Node) -> tuple[str, str] | None:
        if len(self.activations(node)) != 2:
            return "the scalar operand broadcasts the tensor to another shape", "an explicit expand"
        if node.target is not _MUL and argument(node, "alpha") == 0:
            return "alpha=0 drops an operand", "leave the operand out"
        return None

    def emit(self, call: Call) -> Node:
        a, b = call.inputs
        of_a, of_b, out = quantization_of(a), quantization_of(b), call.output
        if call.node.target is _MUL:
            factor = quantize_multiplier(of_a.scale * of_b.scale / out.scale)
            zero_points = (of_a.zero_point, of_b.zero_point, out.zero_point)
            return call.emit(mul, a, b, *zero_points, *factor, *call.activation_range())
        alpha = float(argument(call.node, "alpha"))
        scale_b = of_b.scale * (-alpha if call.node.target is _SUB else alpha)
        common = 2.0 * max(of_a.scale, abs(scale_b))
        return call.emit(
            add,
            a,
            b,
            of_a.zero_point,
            *quantize_multiplier(of_a.scale / common),
            of_b.zero_point,
            *quantize_multiplier(scale_b / common),
            LEFT_SHIFT,
            out.zero_point,
            *quantize_multiplier(common / (2**LEFT_SHIFT * out.scale)),
            *call.activation_range(),
        )


FAMILY = Family(dict.fromkeys((_ADD, _SUB, _MUL), Binary()))
