# SPDX-License-Identifier: Apache-2.0
"""Float forms of ops with an int8 form: float kernels for ops that stay in float32 by request."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Graph, Node

from aot.dialect.graph import Builder, Edge, Origin
from aot.dialect.rule import argument, as_clamp
from aot.rules.function import is_unquantized
from kernels.strided_copy.op_reshape import reshape

_aten = torch.ops.aten


class FloatCall:
    """One float op between float values, as passed to its float form.

    Attributes:
      node: the ATen node.
      inputs: its input nodes, by the ATen node, in the new graph.
      constants: returns the tensor of a constant ATen node.
      graph: the new one.
      builder: makes its nodes.
      origin: metadata for them.
    """

    def __init__(
        self,
        node: Node,
        inputs: Callable[[Node], Node],
        constants: Callable[[object], torch.Tensor | None],
        graph: Graph,
        builder: Builder,
        origin: Origin,
    ) -> None:
        self.node, self.constants = node, constants
        self._inputs, self._origin = inputs, origin
        self._graph, self._builder = graph, builder

    def input(self, index: int) -> Node:
        source = self.node.args[index]
        assert isinstance(source, Node)
        return self._inputs(source)

    def constant(self, name: str, value: torch.Tensor) -> Node:
        return self._builder.constant(f"{self.node.name}_{name}", value, Edge())

    def reshape(self, x: Node, shape: list[int]) -> Node:
        return self._builder.call(reshape, x, shape, edge=Edge(), origin=self._origin)

    def call(self, target: Any, *args: Node) -> Node:
        new: Node = self._graph.call_function(target, args)
        given = [n.meta["val"] for n in args]
        value = target(*(torch.empty(x.shape, dtype=x.dtype, device="meta") for x in given))
        new.meta.update(val=value, edge=Edge(), origin=self._origin)
        new.meta["stack_trace"] = self._origin.source
        return new


def _linear(call: FloatCall) -> Node:
    x = call.input(0)
    weight = call.constants(call.node.args[1])
    assert weight is not None
    shape = list(call.node.meta["val"].shape)
    columns, depth = weight.shape
    flat = call.reshape(x, [1, math.prod(shape[:-1]), depth])
    transposed = call.constant("weight_t", weight.detach().t().contiguous().unsqueeze(0))
    y = call.reshape(call.call(_aten.bmm.default, flat, transposed), shape)
    bias = call.constants(argument(call.node, "bias"))
    if bias is None:
        return y
    return call.call(_aten.add.Tensor, y, call.constant("bias", bias.detach().reshape(columns)))


def _clamp(call: FloatCall) -> Node:
    clamp, y = as_clamp(call.node), call.input(0)
    assert clamp is not None
    for name, target, limit in (
        ("minimum", _aten.maximum.default, clamp.minimum),
        ("maximum", _aten.minimum.default, clamp.maximum),
    ):
        if limit is not None:
            y = call.call(target, y, _number(call, name, limit))
    return y


def _comparison(call: FloatCall) -> Node:
    """Lower a comparison. a > b is computed as b < a."""
    name = str(call.node.target).split(".")[1]
    target, swaps = _COMPARISONS[name]
    sides = _sides(call)
    return call.call(target, *(reversed(sides) if swaps else sides))


def _binary(call: FloatCall) -> Node:
    target: Any = call.node.target
    return call.call(_TENSORS.get(target, target), *_sides(call))


def _sides(call: FloatCall) -> list[Node]:
    sides = []
    for index, side in enumerate(call.node.args[:2]):
        is_number = isinstance(side, bool | int | float)
        sides.append(_number(call, "number", float(side)) if is_number else call.input(index))  # type: ignore[arg-type]
    return sides


def _number(call: FloatCall, name: str, value: float) -> Node:
    """Return a constant without effect on the result's shape, also without dimensions."""
    shape = (1,) if call.node.meta["val"].dim() else ()
    return call.constant(name, torch.full(shape, value))


_COMPARISONS = {
    "lt": (_aten.lt.Tensor, False),
    "le": (_aten.le.Tensor, False),
    "gt": (_aten.lt.Tensor, True),
    "ge": (_aten.le.Tensor, True),
    "eq": (_aten.eq.Tensor, False),
    "ne": (_aten.ne.Tensor, False),
}
_TENSORS = {
    _aten.add.Scalar: _aten.add.Tensor,
    _aten.sub.Scalar: _aten.sub.Tensor,
    _aten.mul.Scalar: _aten.mul.Tensor,
    _aten.div.Scalar: _aten.div.Tensor,
}

FORMS: dict[Any, Callable[[FloatCall], Node]] = {
    _aten.linear.default: _linear,
    _aten.relu.default: _clamp,
    _aten.hardtanh.default: _clamp,
    _aten.clamp.default: _clamp,
    _aten.add.Tensor: _binary,
    _aten.mul.Tensor: _binary,
    _aten.sub.Tensor: _binary,
    _aten.div.Tensor: _binary,
    **dict.fromkeys(_TENSORS, _binary),
    **{
        getattr(getattr(_aten, name), overload): _comparison
        for name in _COMPARISONS
        for overload in ("Tensor", "Scalar")
    },
}


_WITH_ALPHA = (_aten.add.Tensor, _aten.add.Scalar, _aten.sub.Tensor, _aten.sub.Scalar)


def float_form(node: Node) -> Callable[[FloatCall], Node] | None:
    """Return the maker of the float form of an ATen node, possibly int8 too, or None."""
    if node.target in _WITH_ALPHA and argument(node, "alpha") != 1:
        return None
    # Integers and masks are compared elsewhere.
    if any(is_unquantized(n) for n in node.all_input_nodes):
        return None
    return FORMS.get(node.target)
