# SPDX-License-Identifier: Apache-2.0
"""Lowering of aten.matmul and similar ops to pl::bmm, if neither tensor is a layer's weight."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.arithmetic import INT32_MAX, sums_multiplier
from aot.dialect.graph import edge_of, quantization_of, shape_of
from aot.dialect.library import Op
from aot.dialect.quantization import INT8
from aot.dialect.rule import Call, Family, Observed, Output
from kernels.bmm.op import bmm
from kernels.strided_copy.op_reshape import reshape

_aten = torch.ops.aten
PRODUCTS = (
    _aten.matmul.default,
    _aten.mm.default,
    _aten.bmm.default,
    _aten.mv.default,
    _aten.dot.default,
)
_SPAN = INT8.quant_max - INT8.quant_min
_DEEPEST = INT32_MAX // (_SPAN * (_SPAN + 1))


class Matmul:
    output: ClassVar[Output] = Observed()
    fuses_clamp: ClassVar[bool] = True

    def activations(self, node: Node) -> list[Node]:
        return [a for a in node.args[:2] if isinstance(a, Node)]

    def weights(self, node: Node) -> Node | None:
        return None

    def op(self, node: Node) -> Op:
        return bmm

    def reject(self, node: Node) -> tuple[str, str] | None:
        depth = self.activations(node)[0].meta["val"].shape[-1]
        if depth > _DEEPEST:
            return (
                f"sums of {depth} products can overflow the int32 accumulator",
                f"the sum of products of at most {_DEEPEST} columns each",
            )
        return None

    def emit(self, call: Call) -> Node:
        """Make the product.

        A vector is a matrix of one row on the left, of one column on the right.
        """
        a, b = call.inputs
        if len(shape_of(a)) == 1:
            a = _reshaped(call, a, [1, *shape_of(a)])
        is_vector = len(shape_of(b)) == 1
        if is_vector:
            b = _reshaped(call, b, [1, *shape_of(b)])
        of_a, of_b, out = quantization_of(a), quantization_of(b), call.output
        factor = sums_multiplier(of_a.scale * of_b.scale / out.scale, out.type.dtype)
        zero_points = (of_a.zero_point, of_b.zero_point, out.zero_point)
        stage = (*zero_points, *factor, *call.activation_range())
        product = call.emit(bmm, a, b, is_vector, [], [], *stage)
        shape = list(call.node.meta["val"].shape)
        return product if list(shape_of(product)) == shape else _reshaped(call, product, shape)


def _reshaped(call: Call, x: Node, shape: list[int]) -> Node:
    return call.emit(reshape, x, shape, edge=edge_of(x))


FAMILY = Family(
    dict.fromkeys(PRODUCTS, Matmul()),
    kept=(_aten.matmul.default, _aten.mv.default, _aten.dot.default),
)
