# SPDX-License-Identifier: Apache-2.0
"""Ops that move values without changing them: reshape, transpose, slice, pad and cat of the
dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, cast

import torch
from torch.fx import Node

from aot.dialect.graph import Edge, shape_of
from aot.dialect.library import Op
from aot.dialect.quantization import INT16
from aot.dialect.rule import (
    ON_DEVICE,
    Call,
    Family,
    Integers,
    Output,
    Rule,
    Shares,
    UnaryRule,
    argument,
)
from aot.rules.function import is_unquantized
from kernels.cat.op import cat
from kernels.pad.op import pad
from kernels.scatter.op import scatter_sum
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_slice import slice
from kernels.strided_copy.op_transpose import transpose

_aten = torch.ops.aten
RESHAPE_TARGETS = (
    _aten.view.default,
    _aten.reshape.default,
    _aten._unsafe_view.default,
    _aten.unsqueeze.default,
    _aten.squeeze.default,
    _aten.squeeze.dim,
    _aten.squeeze.dims,
    _aten.flatten.using_ints,
)
PERMUTE_TARGETS = (_aten.permute.default, _aten.transpose.int, _aten.t.default)
MOVEMENT = {*RESHAPE_TARGETS, *PERMUTE_TARGETS}


def beneath_movement(node: Node) -> Node:
    """Return the value before movement ops, i.e. before changes of order or shape, if they are its
    only readers.
    """
    while node.target in MOVEMENT and len(node.users) == 1:
        source = node.args[0]
        assert isinstance(source, Node)
        node = source
    return node


def readers(node: Node) -> Iterator[Node]:
    """Yield the readers of a value. Changes of order or shape are skipped."""
    for user in node.users:
        if user.target in MOVEMENT:
            yield from readers(user)
        else:
            yield user


class Reshape(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return reshape

    def emit(self, call: Call) -> Node:
        return call.emit(reshape, call.inputs[0], list(call.node.meta["val"].shape))


class Permute(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return transpose

    def emit(self, call: Call) -> Node:
        rank = len(shape_of(call.inputs[0]))
        perm = list(range(rank))
        if call.node.target is _aten.permute.default:
            perm = [d % rank for d in argument(call.node, "dims")]
        else:
            dims = (0, 1) if call.node.target is _aten.t.default else call.node.args[1:3]
            a, b = (int(d) % rank for d in cast(Sequence[int], dims))
            perm[a], perm[b] = perm[b], perm[a]
        return call.emit(transpose, call.inputs[0], perm)


class Slice(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return slice

    def reject(self, node: Node) -> tuple[str, str] | None:
        if 0 in node.meta["val"].shape:
            return "the slice is empty", "a range inside the dimension"
        return None

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        shape = shape_of(x)
        dim = int(argument(call.node, "dim")) % len(shape)
        size = shape[dim]
        if call.node.target is _aten.select.int:
            index = int(argument(call.node, "index")) % size
            part = call.emit(slice, x, dim, index, index + 1, 1)
            return call.emit(reshape, part, list(call.node.meta["val"].shape))
        start, end = argument(call.node, "start"), argument(call.node, "end")
        start = 0 if start is None else min(max(start + size if start < 0 else start, 0), size)
        end = size if end is None else min(max(end + size if end < 0 else end, 0), size)
        return call.emit(slice, x, dim, start, end, int(argument(call.node, "step")))


class Pad(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return pad

    def reject(self, node: Node) -> tuple[str, str] | None:
        (x,) = self.activations(node)
        flat = list(argument(node, "pad"))
        for k, size in zip(range(len(flat) // 2), reversed(x.meta["val"].shape), strict=False):
            if size + min(flat[2 * k], 0) + min(flat[2 * k + 1], 0) <= 0:
                return "it crops every element away", "padding that leaves at least one element"
        return None

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        x, padding = _cropped(call, x)
        if not any(padding):
            return x
        nearest = call.output.nearest(pad_value(call.node))
        if call.output.type is INT16 and nearest != 0:
            border = torch.tensor(nearest, dtype=torch.int16)
            return _bordered(call, x, padding, border, Edge(call.output))
        return call.emit(pad, x, padding, nearest)


class PadWithConstants(Pad):
    """Rule for padding of unquantized values."""

    def op(self, node: Node) -> Op:
        return cat

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        x, padding = _cropped(call, x)
        return _bordered(
            call, x, padding, torch.tensor(pad_value(call.node), dtype=x.meta["val"].dtype), None
        )


def pad_value(node: Node) -> float:
    """Return the padding value of an ATen op."""
    return float(argument(node, "value") or 0.0)


def _cropped(call: Call, x: Node) -> tuple[Node, list[int]]:
    """Crop a value by its negative padding. Return it and the remaining padding.

    The padding holds the elements (before, after) each dimension in order.
    """
    shape, flat = list(shape_of(x)), list(argument(call.node, "pad"))
    padding = [0] * (2 * len(shape))
    for k in range(len(flat) // 2):
        dim = len(shape) - 1 - k
        before, after = flat[2 * k], flat[2 * k + 1]
        if before < 0 or after < 0:
            x = call.emit(slice, x, dim, max(-before, 0), shape[dim] - max(-after, 0), 1)
        padding[2 * dim], padding[2 * dim + 1] = max(before, 0), max(after, 0)
    return x, padding


def _bordered(
    call: Call, x: Node, padding: list[int], value: torch.Tensor, edge: Edge | None
) -> Node:
    """Return the value padded with constants of one number."""
    for dim in range(len(padding) // 2):
        parts = [x]
        for count, place in ((padding[2 * dim], 0), (padding[2 * dim + 1], 2)):
            if count > 0:
                shape = [count if d == dim else s for d, s in enumerate(shape_of(x))]
                parts.insert(place, call.constant("border", value.expand(shape).clone(), edge))
        x = call.emit(cat, parts, dim) if len(parts) > 1 else x
    return x


class Cat(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return cat

    def activations(self, node: Node) -> list[Node]:
        tensors = node.args[0]
        assert isinstance(tensors, (list, tuple))
        return [t for t in tensors if isinstance(t, Node)]

    def emit(self, call: Call) -> Node:
        dim = int(argument(call.node, "dim")) % len(shape_of(call.inputs[0]))
        return call.emit(cat, list(call.inputs), dim)


class Unquantized:
    """Rule that applies a movement rule to masks and integers.

    Args:
      rule: moves quantized values.
    """

    output: ClassVar[Output] = Integers()
    fuses_clamp: ClassVar[bool] = False

    def __init__(self, rule: Rule) -> None:
        self._rule = rule

    def activations(self, node: Node) -> list[Node]:
        return []

    def weights(self, node: Node) -> Node | None:
        return None

    def op(self, node: Node) -> Op:
        return self._rule.op(node)

    def reject(self, node: Node) -> tuple[str, str] | None:
        return self._rule.reject(node)

    def emit(self, call: Call) -> Node:
        values = [call.unquantized(value) for value in self._rule.activations(call.node)]
        return self._rule.emit(replace(call, inputs=values))


def as_unquantized(rule: Rule, node: Node) -> Rule:
    """Return the rule of a node for its input type.

    Masks and integers get another rule, if the dialect's op moves those too.
    """
    if not is_unquantized(node) or not isinstance(rule.output, Shares):
        return rule
    if rule.op(node) is pad:
        return Unquantized(PadWithConstants())
    dtype = node.meta["val"].dtype
    moves = _takes(rule.op(node), ON_DEVICE.get(dtype, dtype))
    return Unquantized(rule) if moves else rule


def on_floats(rule: Rule, node: Node) -> Rule | None:
    """Return the rule that lowers a node to the same dialect op on float32.

    None if that op takes no such values.
    """
    if rule.op(node) is scatter_sum:
        return Unquantized(rule)
    if not isinstance(rule.output, Shares | Integers) or not rule.activations(node):
        return None
    if rule.op(node) is pad:
        return Unquantized(PadWithConstants())
    return Unquantized(rule) if _takes(rule.op(node), torch.float32) else None


def _takes(op: Op, dtype: torch.dtype) -> bool:
    """Return True if a tensor argument of an op may have a dtype."""
    return any(dtype in dtypes for dtypes in op.dtypes.values())


FAMILY = Family(
    {
        **dict.fromkeys(RESHAPE_TARGETS, Reshape()),
        **dict.fromkeys(PERMUTE_TARGETS, Permute()),
        **dict.fromkeys((_aten.slice.Tensor, _aten.select.int), Slice()),
        _aten.constant_pad_nd.default: Pad(),
        _aten.cat.default: Cat(),
    }
)
