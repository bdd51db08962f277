# SPDX-License-Identifier: Apache-2.0
"""Compositions of integer ops: rounding towards zero, truth of numbers, clamps between values,
shifts, powers of a number, matrix products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions.builders import Results, as_type, source_of
from aot.rules.function import is_integers, is_mask

_aten = torch.ops.aten
_FMOD = (_aten.fmod.Scalar, _aten.fmod.Tensor)
_BITS = 32
_MOST_POWERS = 64
"""Powers of a number in a table; larger ones are beyond torch's integers."""
SHIFTS = (
    *(getattr(_aten.__lshift__, kind) for kind in ("Scalar", "Tensor")),
    *(getattr(_aten.__rshift__, kind) for kind in ("Scalar", "Tensor")),
    *(
        getattr(op, kind)
        for op in (_aten.bitwise_left_shift, _aten.bitwise_right_shift)
        for kind in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")
    ),
)
MATRIX_PRODUCTS = (
    *(getattr(_aten, name).default for name in ("bmm", "dot", "linear", "matmul", "mm", "mv")),
)


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


def _shifted(module: GraphModule, node: Node) -> Results:
    """Decompose a shift into products with powers of two, or quotients rounded down.

    A shift by less than 31 bits takes one. A computed one takes two, and a shift by more bits than
    there are, or by a negative number, leaves only the sign or nothing.
    """
    operands: Any = node.args
    x, bits = operands
    if not all(map(is_integers, node.all_input_nodes)):
        return {}
    target: Any = node.target
    is_left = target.overloadpacket in (_aten.__lshift__, _aten.bitwise_left_shift)
    shift = torch.tensor([_BITS, *range(_BITS), _BITS]).clamp(max=_BITS if is_left else _BITS - 1)
    y = x if isinstance(x, Node) else constant(module, node, "number", torch.tensor(x))
    known = isinstance(bits, int) and 0 <= bits < _BITS - 1
    for part in (shift,) if known else (shift // 2, shift - shift // 2):
        factor = _looked_up(module, node, bits, 1 << part)
        if is_left:
            y = call(node, _aten.mul.Tensor, y, factor)
        else:
            y = call(node, _aten.floor_divide.default, y, factor)
    return {0: y}


def _power_of_number(module: GraphModule, node: Node) -> Results:
    """Decompose an integer to the power of computed integers: its powers are in a table."""
    operands: Any = node.args
    base, exponent = operands
    if not is_integers(exponent) or not isinstance(base, int) or abs(base) < 2:
        return {}
    wrapped = [_as_int32(base**power) for power in range(_MOST_POWERS)]
    return {0: _looked_up(module, node, exponent, torch.tensor([0, *wrapped]))}


def _as_int32(number: int) -> int:
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def _looked_up(module: GraphModule, node: Node, index: Any, table: torch.Tensor) -> Node:
    """Return a table's entries for integers, a number or a tensor, from -1 on. The first and the
    last entry are those of all integers beyond.
    """
    first = -1
    known = torch.tensor(index) if isinstance(index, int) else tensor_constant(module, index)
    last = first + len(table) - 1
    if known is not None:
        return constant(module, node, "entries", table[known.long().clamp(first, last) - first])
    place = call(node, _aten.clamp.default, index, first, last)
    place = call(node, _aten.sub.Tensor, place, first)
    return call(node, _aten.index.Tensor, constant(module, node, "table", table), [place])


def matrix_product(module: GraphModule, node: Node) -> Results:
    """Decompose a product of matrices of integers into a sum of products of their elements."""
    operands: Any = node.args[:2]
    a, b = operands
    if not all(map(is_integers, node.all_input_nodes)):
        return {}
    if node.target is _aten.linear.default:
        b = call(node, _aten.permute.default, b, [1, 0])
    if a.meta["val"].dim() == 1:
        a = call(node, _aten.unsqueeze.default, a, 0)
    if b.meta["val"].dim() == 1:
        b = call(node, _aten.unsqueeze.default, b, 1)
    rows = call(node, _aten.unsqueeze.default, a, -1)
    columns = call(node, _aten.unsqueeze.default, b, -3)
    products = call(node, _aten.mul.Tensor, rows, columns)
    value = node.meta["val"]
    y = call(node, _aten.sum.dim_IntList, products, [-2])
    if y.meta["val"].dtype != value.dtype:
        y = as_type(node, y, value.dtype)
    y = call(node, _aten.reshape.default, y, list(value.shape))
    bias = argument(node, "bias") if node.target is _aten.linear.default else None
    return {0: y if bias is None else call(node, _aten.add.Tensor, y, bias)}


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten.clamp.Tensor: _between_values,
    _aten.fmod.Scalar: cut_off,
    _aten.logical_and.default: _truth,
    _aten.logical_not.default: _truth,
    _aten.logical_or.default: _truth,
    _aten.logical_xor.default: _truth,
    _aten.pow.Scalar: _power_of_number,
    **dict.fromkeys(SHIFTS, _shifted),
    **dict.fromkeys(MATRIX_PRODUCTS, matrix_product),
}
