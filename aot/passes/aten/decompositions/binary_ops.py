# SPDX-License-Identifier: Apache-2.0
"""Compositions of functions of two values: hypot, atan2, remainder, fmod, copysign, heaviside,
take, nn.Bilinear, addbmm, linspace; of bits and signs of integers; of running products, maxima,
minima and logarithms of sums those of two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions import integer_ops, powers
from aot.passes.aten.decompositions.builders import (
    Results,
    alike,
    along,
    as_type,
    read_results,
    source_of,
)
from aot.rules.function import is_integers, is_mask, is_scalar

_aten = torch.ops.aten
_RAMPS = (_aten.linspace.Tensor_Tensor, _aten.linspace.Tensor_Scalar, _aten.linspace.Scalar_Tensor)
KEPT = (*_RAMPS, _aten.heaviside.default, _aten.take.default)
"""Ops that export leaves whole: torch writes them in other types, or by the value of an index."""

_MOST_BITS = 30


def _running(module: GraphModule, node: Node) -> Results:
    """Decompose a running product, maximum, minimum or logarithm of a sum.

    Each step doubles the number of combined values. If indices are read, each step selects values
    with their indices; of equal values the last.
    """
    x, dim = along(node)
    first = node.meta["val"]
    dtype = (first if isinstance(first, torch.Tensor) else first[0]).dtype
    if is_integers(x) and x.meta["val"].dtype != dtype:
        x = as_type(node, x, dtype)
    if x.meta["val"].dtype != torch.float32 and not is_integers(x):
        return {}
    shape, reach = x.meta["val"].shape, 1
    results = [x]
    if 1 in read_results(node):
        behind = [1] * (len(shape) - 1 - dim)
        places = torch.arange(shape[dim]).reshape([-1, *behind]).expand(shape)
        results.append(constant(module, node, "places", places))
    while reach < shape[dim]:
        results = _step(module, node, results, dim, reach)
        reach *= 2
    return dict(enumerate(results))


def _step(module: GraphModule, node: Node, of: list[Node], dim: int, reach: int) -> list[Node]:
    """Combine values, or values and indices, each with the one `reach` after it."""
    count = of[0].meta["val"].shape[dim]
    parts = [
        tuple(
            call(node, _aten.slice.Tensor, x, dim, start, end)
            for start, end in ((0, reach), (reach, count), (0, count - reach))
        )
        for x in of
    ]
    (first, ahead, behind), *places = parts
    if places:
        chosen = call(node, _IS_CHOSEN[node.target], ahead, behind)
        joined = [call(node, _aten.where.self, chosen, *part[1:]) for part in parts]
    else:
        joined = [_RUNNING[node.target](node, ahead, behind)]
        if node.target is _aten.cumprod.default and not is_integers(of[0]):
            # A cat gives its parts its own range. A multiplication by one between the values and
            # the cat keeps the values' range. This costs less than values with only few remaining
            # steps.
            one = constant(module, node, "one", torch.ones(1))
            parts = [(call(node, _aten.mul.Tensor, first, one), ahead, behind)]
    return [
        call(node, _aten.cat.default, [first, rest], dim)
        for (first, *_), rest in zip(parts, joined, strict=True)
    ]


def _hypotenuse(module: GraphModule, node: Node) -> Results:
    """Decompose hypot into the norm of pairs; their squares are exact."""
    sides = alike(node)
    pairs = [call(node, _aten.unsqueeze.default, side, -1) for side in sides]
    both = call(node, _aten.cat.default, pairs, -1)
    return {0: call(node, _aten.linalg_vector_norm.default, both, 2.0, [-1])}


def _arctangent(module: GraphModule, node: Node) -> Results:
    """Decompose atan2: the arctangent of the smaller side by the larger, at most 45 degrees, then
    turned to its quadrant.
    """
    y, x = alike(node)
    up, along = (call(node, _aten.abs.default, side) for side in (y, x))
    larger = call(node, _aten.maximum.default, up, along)
    larger = call(node, _aten.clamp.default, larger, 1e-30)
    ratio = call(node, _aten.div.Tensor, call(node, _aten.minimum.default, up, along), larger)
    angle = call(node, _aten.atan.default, ratio)
    for is_turned, half in (
        (call(node, _aten.gt.Tensor, up, along), math.pi / 2),
        (call(node, _aten.lt.Scalar, x, 0.0), math.pi),
        (call(node, _aten.lt.Scalar, y, 0.0), 0.0),
    ):
        turned = call(node, _aten.rsub.Scalar, angle, half)
        angle = call(node, _aten.where.self, is_turned, turned, angle)
    return {0: angle}


def _rest(module: GraphModule, node: Node) -> Results:
    """Decompose a division's remainder, with the divisor's sign, or in fmod the dividend's."""
    if is_integers(node):
        return integer_ops.cut_off(module, node) if node.target is _aten.fmod.Tensor else {}
    if any(not isinstance(n, Node) or is_scalar(n) for n in node.args[:2]):
        return {}  # a function of one value
    if node.meta["val"].dtype != torch.float32:
        return {}
    x, y = alike(node)
    rounded = _aten.floor if node.target is _aten.remainder.Tensor else _aten.trunc
    quotient = call(node, rounded.default, call(node, _aten.div.Tensor, x, y))
    return {0: call(node, _aten.sub.Tensor, x, call(node, _aten.mul.Tensor, quotient, y))}


def _signed(module: GraphModule, node: Node) -> Results:
    x, y = alike(node)
    size = call(node, _aten.abs.default, x)
    negative = call(node, _aten.lt.Scalar, y, 0.0)
    return {0: call(node, _aten.where.self, negative, call(node, _aten.neg.default, size), size)}


def _step_at_zero(module: GraphModule, node: Node) -> Results:
    """Decompose heaviside of float32: 0 below zero, 1 above it, and a value at zero."""
    x, values = source_of(node), argument(node, "values")
    if node.meta["val"].dtype != torch.float32:
        return {}
    if not is_scalar(values):  # else a function of one value
        x, values = alike(node)
    above = as_type(node, call(node, _aten.gt.Scalar, x, 0.0), torch.float32)
    return {0: call(node, _aten.where.self, call(node, _aten.eq.Scalar, x, 0.0), values, above)}


def _taken(module: GraphModule, node: Node) -> Results:
    """Decompose take: elements of all of a tensor, in the shape of the index."""
    flat = call(node, _aten.reshape.default, source_of(node), [-1])
    return {0: call(node, _aten.index.Tensor, flat, [argument(node, "index")])}


def _bilinear(module: GraphModule, node: Node) -> Results:
    """Decompose nn.Bilinear into all products of two vectors' elements, and a layer over them."""
    x, weight, y, *dims = node.args
    of = tensor_constant(module, weight)
    if of is None or dims[:4] != [[1, 3], [0], [1, 2], [2, 3]]:
        return {}
    assert isinstance(x, Node) and isinstance(y, Node)
    outer = call(
        node,
        _aten.mul.Tensor,
        call(node, _aten.unsqueeze.default, x, -1),
        call(node, _aten.unsqueeze.default, y, -2),
    )
    rows = [x.meta["val"].shape[0], of.shape[1] * of.shape[2]]
    flat = constant(module, node, "flat", of.reshape(of.shape[0], -1))
    outer = call(node, _aten.reshape.default, outer, rows)
    return {0: call(node, _aten.linear.default, outer, flat)}


def _negated(module: GraphModule, node: Node) -> Results:
    """Decompose negation of integers, like the next ones; floats use pointwise functions."""
    (x,) = node.all_input_nodes
    return {0: call(node, _aten.mul.Tensor, x, -1)} if is_integers(x) else {}


def _magnitude(module: GraphModule, node: Node) -> Results:
    (x,) = node.all_input_nodes
    if not is_integers(x):
        return {}
    return {0: call(node, _aten.maximum.default, x, call(node, _aten.mul.Tensor, x, -1))}


def _sign(module: GraphModule, node: Node) -> Results:
    (x,) = node.all_input_nodes
    return {0: call(node, _aten.clamp.default, x, -1, 1)} if is_integers(x) else {}


def _bits(module: GraphModule, node: Node) -> Results:
    """Decompose x | y and x ^ y of integers into x + y, minus x & y once or twice."""
    if not all(map(is_integers, node.all_input_nodes)):
        return {}
    x, y = node.args
    target = _aten.bitwise_and.Tensor if isinstance(y, Node) else _aten.bitwise_and.Scalar
    both = call(node, target, x, y)
    rest = call(node, _aten.sub.Tensor, x, both)
    if node.target in (_aten.bitwise_xor.Scalar, _aten.bitwise_xor.Tensor):
        rest = call(node, _aten.sub.Tensor, rest, both)
    return {0: call(node, _aten.add.Tensor, rest, y)}


def _turned(module: GraphModule, node: Node) -> Results:
    """Invert all bits of integers: -1 - x."""
    (x,) = node.all_input_nodes
    if not is_integers(x):
        return {}
    return {0: call(node, _aten.sub.Tensor, call(node, _aten.mul.Tensor, x, -1), 1)}


def _square(module: GraphModule, node: Node) -> Results:
    (x,) = node.all_input_nodes
    return {0: call(node, _aten.mul.Tensor, x, x)} if is_integers(x) else {}


def _whole_power(module: GraphModule, node: Node) -> Results:
    """Decompose an integer power into products."""
    (x,), exponent = node.all_input_nodes, node.args[1]
    if not is_integers(x) or not isinstance(exponent, int) or not 0 <= exponent <= _MOST_BITS:
        return {}
    if exponent == 0:
        return {0: call(node, _aten.add.Tensor, call(node, _aten.mul.Tensor, x, 0), 1)}
    result = x
    for bit in f"{exponent:b}"[1:]:
        result = call(node, _aten.mul.Tensor, result, result)
        if bit == "1":
            result = call(node, _aten.mul.Tensor, result, x)
    return {0: result}


def _unlike(module: GraphModule, node: Node) -> Results:
    """Decompose the comparison of two masks for inequality or equality."""
    if not all(map(is_mask, node.args[:2])):  # type: ignore[arg-type]
        return {}
    other = call(node, _aten.logical_xor.default, *node.args)
    same = node.target is _aten.eq.Tensor
    return {0: call(node, _aten.logical_not.default, other) if same else other}


def _log_of_sum(node: Node, a: Node, b: Node) -> Node:
    """Return log(exp(a) + exp(b)): the larger one, plus the contribution of the smaller."""
    apart = call(node, _aten.abs.default, call(node, _aten.sub.Tensor, a, b))
    part = call(node, _aten.exp.default, call(node, _aten.neg.default, apart))
    more = call(node, _aten.log1p.default, part)
    return call(node, _aten.add.Tensor, call(node, _aten.maximum.default, a, b), more)


def _joined_by(target: Any) -> Callable[[Node, Node, Node], Node]:
    return lambda node, a, b: call(node, target, a, b)


_RUNNING: dict[Any, Callable[[Node, Node, Node], Node]] = {
    _aten.cumprod.default: _joined_by(_aten.mul.Tensor),
    _aten.cummax.default: _joined_by(_aten.maximum.default),
    _aten.cummin.default: _joined_by(_aten.minimum.default),
    _aten.logcumsumexp.default: _log_of_sum,
}


_IS_CHOSEN: dict[Any, Any] = {
    _aten.cummax.default: _aten.ge.Tensor,
    _aten.cummin.default: _aten.le.Tensor,
}


def _sum_of_products(module: GraphModule, node: Node) -> Results:
    """Decompose addbmm: the sum of the products is one product of concatenated rows."""
    a, b = argument(node, "batch1"), argument(node, "batch2")
    rows, columns = a.meta["val"].shape[1], b.meta["val"].shape[2]
    beside = call(node, _aten.permute.default, a, [1, 0, 2])
    wide = call(node, _aten.reshape.default, beside, [rows, -1])
    tall = call(node, _aten.reshape.default, b, [-1, columns])
    total = call(node, _aten.matmul.default, wide, tall)
    added, alpha, beta = (argument(node, name) for name in ("self", "alpha", "beta"))
    if alpha != 1:
        total = call(node, _aten.mul.Tensor, total, alpha)
    if beta == 0:
        return {0: total}
    if beta != 1:
        added = call(node, _aten.mul.Tensor, added, beta)
    return {0: call(node, _aten.add.Tensor, added, total)}


def _ramp(module: GraphModule, node: Node) -> Results:
    """Decompose linspace between two values, or a value and a number, into shares of each."""
    if node.meta["val"].dtype != torch.float32:
        return {}
    share = torch.linspace(0.0, 1.0, argument(node, "steps"))
    parts = []
    for name, part in (("start", 1.0 - share), ("end", share)):
        end = argument(node, name)
        if not isinstance(end, Node):
            parts.append(constant(module, node, name, part * end))
            continue
        if end.meta["val"].dtype != torch.float32:
            end = as_type(node, end, torch.float32)
        weights = constant(module, node, f"{name}_share", part)
        parts.append(call(node, _aten.mul.Tensor, end, weights))
    return {0: call(node, _aten.add.Tensor, *parts)}


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    **dict.fromkeys(_RUNNING, _running),
    _aten.hypot.default: _hypotenuse,
    _aten.atan2.default: _arctangent,
    **powers.COMPOSED,
    _aten.heaviside.default: _step_at_zero,
    _aten.take.default: _taken,
    _aten.remainder.Tensor: _rest,
    _aten.fmod.Tensor: _rest,
    _aten.copysign.Tensor: _signed,
    _aten._trilinear.default: _bilinear,
    _aten.addbmm.default: _sum_of_products,
    **dict.fromkeys(_RAMPS, _ramp),
    _aten.neg.default: _negated,
    _aten.abs.default: _magnitude,
    _aten.sign.default: _sign,
    _aten.bitwise_or.Scalar: _bits,
    _aten.bitwise_or.Tensor: _bits,
    _aten.bitwise_xor.Scalar: _bits,
    _aten.bitwise_xor.Tensor: _bits,
    _aten.bitwise_not.default: _turned,
    _aten.pow.Tensor_Scalar: _whole_power,
    _aten.square.default: _square,
    _aten.eq.Tensor: _unlike,
    _aten.ne.Tensor: _unlike,
}
