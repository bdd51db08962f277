# SPDX-License-Identifier: Apache-2.0
"""Lowering of aten.add, sub, lerp, mul and div of two tensors to pl::add, mul and div.

aten.maximum, minimum, and clamp with tensors as limits, become pl::maximum and pl::minimum.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.arithmetic import quantize_multiplier, sums_multiplier
from aot.dialect.graph import quantization_of
from aot.dialect.library import Op
from aot.dialect.quantization import INT8, INT16
from aot.dialect.rule import Call, Family, Observed, Output, argument
from aot.rules.unary import requantized
from kernels.add.op import add
from kernels.binary.op_div import FRACTION_BITS, div
from kernels.binary.op_maximum import maximum, minimum
from kernels.mul.op import mul

_aten = torch.ops.aten
_ADD, _SUB, _LERP = _aten.add.Tensor, _aten.sub.Tensor, _aten.lerp.Scalar
_MUL, _DIV = _aten.mul.Tensor, _aten.div.Tensor
_MAXIMUM = (_aten.maximum.default, _aten.fmax.default)
_MINIMUM = (_aten.minimum.default, _aten.fmin.default)
_CLAMP = _aten.clamp.Tensor

LEFT_SHIFT = {INT8: 20, INT16: 15}  # guard bits of TFLite's ADD


class Binary:
    output: ClassVar[Output] = Observed()
    fuses_clamp: ClassVar[bool] = True

    def activations(self, node: Node) -> list[Node]:
        return [a for a in node.args[:2] if isinstance(a, Node)]

    def weights(self, node: Node) -> Node | None:
        return None

    def op(self, node: Node) -> Op:
        return mul if node.target is _MUL else div if node.target is _DIV else add

    def reject(self, node: Node) -> tuple[str, str] | None:
        if len(self.activations(node)) != 2:
            return "the scalar operand broadcasts the tensor to another shape", "an explicit expand"
        if node.target in (_ADD, _SUB) and argument(node, "alpha") == 0:
            return "alpha=0 drops an operand", "leave the operand out"
        return None

    def emit(self, call: Call) -> Node:
        a, b = call.inputs
        of_a, of_b, out = quantization_of(a), quantization_of(b), call.output
        zero_points = (of_a.zero_point, of_b.zero_point, out.zero_point)
        if call.node.target is _MUL:
            factor = quantize_multiplier(of_a.scale * of_b.scale / out.scale)
            return call.emit(mul, a, b, *zero_points, *factor, *call.activation_range())
        if call.node.target is _DIV:
            ratio = of_a.scale / of_b.scale / out.scale / 2 ** FRACTION_BITS[out.type.dtype]
            factor = sums_multiplier(ratio, out.type.dtype)
            return call.emit(div, a, b, *zero_points, *factor, *call.activation_range())
        times_a, times_b = _terms(call.node)
        scale_a, scale_b = of_a.scale * times_a, of_b.scale * times_b
        left_shift = LEFT_SHIFT[out.type]
        common = 2.0 * max(abs(scale_a), abs(scale_b))
        return call.emit(
            add,
            a,
            b,
            of_a.zero_point,
            *quantize_multiplier(scale_a / common),
            of_b.zero_point,
            *quantize_multiplier(scale_b / common),
            left_shift,
            out.zero_point,
            *quantize_multiplier(common / (2**left_shift * out.scale)),
            *call.activation_range(),
        )


def _terms(node: Node) -> tuple[float, float]:
    """Return the factors of both operands of a sum."""
    if node.target is _LERP:
        weight = float(argument(node, "weight"))
        return 1.0 - weight, weight
    alpha = float(argument(node, "alpha"))
    return 1.0, -alpha if node.target is _SUB else alpha


class ClampLimits:
    """Maximum, minimum or clamp. The result has its own quantization, because limits may be far
    inside of the limited range. Tables convert the operands to it, so the result equals torch's,
    rounded once.
    """

    output: ClassVar[Output] = Observed()
    fuses_clamp: ClassVar[bool] = False

    def activations(self, node: Node) -> list[Node]:
        return [a for a in (*node.args, *node.kwargs.values()) if isinstance(a, Node)]

    def weights(self, node: Node) -> Node | None:
        return None

    def op(self, node: Node) -> Op:
        if node.target is _CLAMP:
            return minimum if argument(node, "max") is not None else maximum
        return maximum if node.target in _MAXIMUM else minimum

    def reject(self, node: Node) -> tuple[str, str] | None:
        return None

    def emit(self, call: Call) -> Node:
        x, *limits = (requantized(call, x, call.output) for x in call.inputs)
        last = self.op(call.node)
        for op, limit in zip((maximum, last) if len(limits) == 2 else (last,), limits, strict=True):
            x = call.emit(op, x, limit)
        return x


FAMILY = Family(
    {
        **dict.fromkeys((_ADD, _SUB, _LERP, _MUL, _DIV), Binary()),
        **dict.fromkeys((*_MAXIMUM, *_MINIMUM, _CLAMP), ClampLimits()),
    },
    kept=(_LERP,),
)
