# SPDX-License-Identifier: Apache-2.0
"""Lowering of masks: comparisons of two tensors to pl::less and pl::equal, logic of two masks and
aten.where to pl::where, aten.any and all to pl::amax and amin.

A mask is a bool tensor and is not quantized. unary.py lowers functions of one mask, and masks that
are a function of one value.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import Edge, quantization_of, shape_of
from aot.dialect.library import Op
from aot.dialect.quantization import INT16
from aot.dialect.rule import Call, Family, Integers, Output, Rule, Shares, UnaryRule, reduction
from aot.rules.function import is_mask, masks_of
from aot.rules.unary import mask_of
from kernels.binary.op_compare import equal, equal_table, factors, less, less_table
from kernels.reduce.op_extremes import amax, amin
from kernels.where.op import where

_aten = torch.ops.aten
_LESS = (_aten.lt.Tensor, _aten.le.Tensor, _aten.gt.Tensor, _aten.ge.Tensor)
_OR_EQUAL = (_aten.le.Tensor, _aten.ge.Tensor)
_SWAPPED = (_aten.gt.Tensor, _aten.ge.Tensor)
_EQUAL = (_aten.eq.Tensor, _aten.ne.Tensor)
_AND = (_aten.logical_and.default, _aten.bitwise_and.Tensor)
_OR = (_aten.logical_or.default, _aten.bitwise_or.Tensor)
_XOR = (_aten.logical_xor.default, _aten.bitwise_xor.Tensor)
_NOT = (_aten.logical_not.default, _aten.bitwise_not.default)
_ANY = (_aten.any.default, _aten.any.dim, _aten.any.dims)
_ALL = (_aten.all.default, _aten.all.dim, _aten.all.dims)


def inverted(call: Call, mask: Node) -> Node:
    """Return the negated mask."""
    false, true = (call.constant(str(t), torch.tensor(t)) for t in (False, True))
    return call.emit(where, mask, false, true, edge=Edge())


class _Elementwise:
    fuses_clamp: ClassVar[bool] = False

    def activations(self, node: Node) -> list[Node]:
        return [a for a in node.args if isinstance(a, Node) and not is_mask(a)]

    def weights(self, node: Node) -> Node | None:
        return None

    def reject(self, node: Node) -> tuple[str, str] | None:
        return None


class Compare(_Elementwise):
    """Rule for comparisons. The result equals torch's on the dequantized values."""

    output: ClassVar[Output] = Integers()

    def op(self, node: Node) -> Op:
        return less if node.target in _LESS else equal

    def reject(self, node: Node) -> tuple[str, str] | None:
        if len(self.activations(node)) != 2:
            return "it compares masks, or broadcasts a tensor", "torch.logical_xor for masks"
        return None

    def emit(self, call: Call) -> Node:
        a, b = call.inputs
        target = call.node.target
        if quantization_of(a).type is INT16:
            return self._emit_int16(call, a, b)
        if target in _EQUAL:
            table = call.constant("table", equal_table(quantization_of(a), quantization_of(b)))
            return call.emit(equal, a, b, table, target is _aten.ne.Tensor, edge=Edge())
        if target in _SWAPPED:
            a, b = b, a
        values = less_table(quantization_of(a), quantization_of(b), target in _OR_EQUAL)
        return call.emit(less, a, b, call.constant("table", values), edge=Edge())

    def _emit_int16(self, call: Call, a: Node, b: Node) -> Node:
        target = call.node.target
        # a > b is b < a, and a <= b is its negation.
        if target in (_aten.gt.Tensor, _aten.le.Tensor):
            a, b = b, a
        table = call.constant("table", factors(quantization_of(a), quantization_of(b)))
        if target in _EQUAL:
            return call.emit(equal, a, b, table, target is _aten.ne.Tensor, edge=Edge())
        mask = call.emit(less, a, b, table, edge=Edge())
        return inverted(call, mask) if target in _OR_EQUAL else mask


class Logic(_Elementwise):
    output: ClassVar[Output] = Integers()

    def op(self, node: Node) -> Op:
        return where

    def reject(self, node: Node) -> tuple[str, str] | None:
        if self.activations(node):
            return "it takes numbers for masks", "x != 0 for the mask of x"
        return None

    def emit(self, call: Call) -> Node:
        a, b = (call.unquantized(n) for n in call.node.args[:2] if isinstance(n, Node))
        false, true = (call.constant(str(t), torch.tensor(t)) for t in (False, True))
        if call.node.target in _AND:
            return call.emit(where, a, b, false, edge=Edge())
        if call.node.target in _OR:
            return call.emit(where, a, true, b, edge=Edge())
        return call.emit(where, a, call.emit(where, b, false, true, edge=Edge()), b, edge=Edge())


class Inverse(_Elementwise):
    output: ClassVar[Output] = Integers()

    def op(self, node: Node) -> Op:
        return where

    def emit(self, call: Call) -> Node:
        (mask,) = call.node.all_input_nodes
        return inverted(call, call.unquantized(mask))


def on_masks(node: Node) -> Rule | None:
    """Return the rule for logic of masks that are functions of one value.

    All of it is one table in int8. Each mask has values of its own in float32.
    """
    if not all(map(is_mask, (node, *node.all_input_nodes))):
        return None
    if node.target in _NOT:
        return Inverse()
    return Logic() if node.target in (*_AND, *_OR, *_XOR) else None


class Where(_Elementwise):
    """Values are only placed, as by cat: all have one quantization."""

    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return where

    def activations(self, node: Node) -> list[Node]:
        return [a for a in node.args[1:] if isinstance(a, Node)]

    def emit(self, call: Call) -> Node:
        mask = call.node.args[0]
        assert isinstance(mask, Node)
        return call.emit(where, call.unquantized(mask), *call.inputs)


class AnyOrAll(UnaryRule):
    output: ClassVar[Output] = Integers()

    def activations(self, node: Node) -> list[Node]:
        return [a for a in super().activations(node) if not is_mask(a)]

    def op(self, node: Node) -> Op:
        return amax if node.target in _ANY else amin

    def emit(self, call: Call) -> Node:
        if not call.inputs:
            (mask,) = map(call.unquantized, masks_of(call.node))
        else:
            (x,) = call.inputs
            values = quantization_of(x).every_value() != quantization_of(x).zero_point
            mask = mask_of(call, x, values)
        dims, keepdim = reduction(call.node, len(shape_of(mask)))
        return call.emit(self.op(call.node), mask, dims, keepdim, edge=Edge())


FAMILY = Family(
    {
        **dict.fromkeys((*_LESS, *_EQUAL), Compare()),
        **dict.fromkeys((*_AND, *_OR, *_XOR), Logic()),
        _aten.where.self: Where(),
        **dict.fromkeys((*_ANY, *_ALL), AnyOrAll()),
    },
    kept=_ALL,
)
