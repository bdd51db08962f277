# SPDX-License-Identifier: Apache-2.0
"""Compositions of integer ops: rounding towards zero, truth of numbers, clamps between values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.rule import argument
from aot.passes.aten.build import call
from aot.passes.aten.decompositions.builders import Results, source_of
from aot.rules.function import is_integers, is_mask

_aten = torch.ops.aten
_FMOD = (_aten.fmod.Scalar, _aten.fmod.Tensor)


def cut_off(module: GraphModule, node: Node) -> Results:
    """Decompose fmod, and a quotient rounded towards zero, into those of magnitudes."""
    is_rest = node.target in _FMOD
    if not is_integers(node) or not all(map(is_integers, node.all_input_nodes)):
        return {}
    if not is_rest and argument(node, "rounding_mode") != "trunc":
        return {}
    x, y = source_of(node), node.args[1]
    size, is_negative = _magnitude(node, x), call(node, _aten.lt.Scalar, x, 0)
    if isinstance(y, Node):
        by = _magnitude(node, y)
        result = call(
            node, _aten.remainder.Tensor if is_rest else _aten.floor_divide.default, size, by
        )
        if not is_rest:
            other = call(node, _aten.lt.Scalar, y, 0)
            is_negative = call(node, _aten.logical_xor.default, is_negative, other)
    else:
        assert isinstance(y, int)
        target = _aten.remainder.Scalar if is_rest else _aten.floor_divide.default
        result = call(node, target, size, abs(y))
        if not is_rest and y < 0:
            is_negative = call(node, _aten.logical_not.default, is_negative)
    turned = call(node, _aten.mul.Tensor, result, -1)
    return {0: call(node, _aten.where.self, is_negative, turned, result)}


def _magnitude(node: Node, x: Node) -> Node:
    return call(node, _aten.maximum.default, x, call(node, _aten.mul.Tensor, x, -1))


def _truth(module: GraphModule, node: Node) -> Results:
    """Decompose logic of integers into that of masks."""
    if not any(map(is_integers, node.all_input_nodes)):
        return {}
    if node.target is _aten.logical_not.default:
        return {0: call(node, _aten.eq.Scalar, source_of(node), 0)}
    operands: Any = node.args
    masks = [x if is_mask(x) else call(node, _aten.ne.Scalar, x, 0) for x in operands]
    return {0: call(node, node.target, *masks)}


def _between_values(module: GraphModule, node: Node) -> Results:
    if not all(map(is_integers, node.all_input_nodes)):
        return {}
    y = source_of(node)
    for name, bound in (("min", _aten.maximum.default), ("max", _aten.minimum.default)):
        limit = argument(node, name)
        y = y if limit is None else call(node, bound, y, limit)
    return {0: y}


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten.clamp.Tensor: _between_values,
    _aten.fmod.Scalar: cut_off,
    _aten.logical_and.default: _truth,
    _aten.logical_not.default: _truth,
    _aten.logical_or.default: _truth,
    _aten.logical_xor.default: _truth,
}
