# SPDX-License-Identifier: Apache-2.0
"""sqrt(a * a + b * b) -> norm([a, b])

For sums of squares of any number of values, and functions of the sum with a root or a logarithm:
f(sum) becomes f(norm * norm), a function of the norm. Squares have twice the range of the values in
bits, which 8 bits cannot hold; the squares of a norm are exact.

Leaves sums with other readers, and terms of different shapes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import drop_dead_code
from aot.dialect.rule import argument, as_clamp
from aot.passes.aten.build import call
from aot.passes.aten.norms.scaled_powers import degree, evaluated
from aot.rules.function import function_root, function_roots, is_scalar, members

_aten = torch.ops.aten
_ROOTS = {
    *(_aten.sqrt.default, _aten.rsqrt.default),
    *(_aten.log.default, _aten.log10.default, _aten.log1p.default, _aten.log2.default),
}


def sums_to_norms(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many sums became norms."""
    count = 0
    for total in list(module.graph.nodes):
        if not _is_sum(total) or not _has_root(module, total):
            continue
        bases = [_base(module, term) for term in _terms(total)]
        found = [base for base in bases if base is not None]
        if len(found) < len(bases):
            continue
        with module.graph.inserting_before(total):
            norm = _norm(total, found)
            square = call(total, _aten.mul.Tensor, norm, norm)
        for user in list(total.users):
            if user.target is _aten.sqrt.default:
                user.replace_all_uses_with(norm)
        total.replace_all_uses_with(square)
        drop_dead_code(module.graph)
        count += 1
    return count


def _is_sum(node: Node) -> bool:
    """Return True for the sum of two values of one shape."""
    if node.target is not _aten.add.Tensor or argument(node, "alpha") != 1:
        return False
    value = node.meta["val"]
    return value.dtype == torch.float32 and all(
        isinstance(x, Node) and not is_scalar(x) and x.meta["val"].shape == value.shape
        for x in node.args[:2]
    )


def _has_root(module: GraphModule, total: Node) -> bool:
    """Return True if all readers of a sum are functions of it, with a root or a logarithm."""
    roots = function_roots(module.graph)
    read = _clamped(total, roots)
    if not read.users or any(roots[user] is not read for user in read.users):
        return False
    functions = [node for node, root in roots.items() if root is read]
    return any(node.target in _ROOTS or _is_root(node) for node in functions)


def _clamped(total: Node, roots: Mapping[Node, Node | None]) -> Node:
    """Return the only reader of a sum if it is a clamp, which may be one op with the sum."""
    first = next(iter(total.users), total)
    is_clamp = as_clamp(first) is not None and roots[first] is not total
    return first if is_clamp and len(total.users) == 1 else total


def _is_root(node: Node) -> bool:
    exponent = node.args[1] if node.target is _aten.pow.Tensor_Scalar else 1.0
    return isinstance(exponent, float) and abs(exponent) < 1.0


def _terms(total: Node) -> list[Node]:
    """Return the terms of a sum, and of the sums among these without another reader."""
    terms: list[Node] = []
    for term in total.args[:2]:
        assert isinstance(term, Node)
        inner = _is_sum(term) and list(term.users) == [total]
        terms += _terms(term) if inner else [term]
    return terms


def _base(module: GraphModule, term: Node) -> tuple[Node, float] | None:
    """Return v and c if a term is (c * v)^2."""
    root = function_root(term)
    if root is None:
        return None
    for node in (*reversed(members(term)[:-1]), root):
        order = degree(module, term, node)
        if order is not None and abs(order - 2.0) < 1e-4:
            factor = evaluated(module, term, {node: torch.ones(())})
            scale = 0.0 if factor is None else float(factor)
            is_real = node.meta["val"].dtype == torch.float32
            return (node, math.sqrt(scale)) if is_real and scale > 0.0 else None
    return None


def _norm(total: Node, bases: list[tuple[Node, float]]) -> Node:
    sides = []
    for base, scale in bases:
        scaled = base if scale == 1.0 else call(total, _aten.mul.Tensor, base, scale)
        sides.append(call(total, _aten.unsqueeze.default, scaled, -1))
    both = call(total, _aten.cat.default, sides, -1)
    return call(total, _aten.linalg_vector_norm.default, both, 2.0, [-1])
