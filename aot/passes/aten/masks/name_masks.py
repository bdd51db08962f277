# SPDX-License-Identifier: Apache-2.0
"""Writes arithmetic with masks by its meaning:

- x * mask, and x * mask.float(): the choice of x or 0; mask * mask: their
  conjunction.
- Elsewhere a mask, or an integer, becomes the number that torch takes it for, also in
  a count of a mask.
- A division by a constant: a multiplication by its reciprocal.

Matches aten.mul, add, sub and div of two tensors, and sum. Leaves a division by 0, and by a number:
the latter is a pointwise function with the original arithmetic.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.passes.aten.build import constant
from aot.rules.function import is_integers, is_mask

_aten = torch.ops.aten
_MUL, _DIV = _aten.mul.Tensor, _aten.div.Tensor
_SUM = _aten.sum.dim_IntList
_ARITHMETIC = {_aten.add.Tensor, _aten.sub.Tensor, _MUL, _DIV}


def _as_mask(node: object) -> Node | None:
    """Return the mask of a value: a mask itself, or 1 at the mask and 0 elsewhere."""
    if not isinstance(node, Node):
        return None
    if node.target is _aten._to_copy.default and node.meta["val"].dtype == torch.float32:
        node = node.args[0]
    return node if isinstance(node, Node) and is_mask(node) else None


def _choose(module: GraphModule, node: Node) -> bool:
    """Rewrite x * mask -> where(mask, x, 0)."""
    a, b = node.args
    mask, value = (_as_mask(b), a) if _as_mask(b) is not None else (_as_mask(a), b)
    if mask is None or not isinstance(value, Node) or is_integers(value):
        return False
    if is_mask(value):
        node.target, node.args = _aten.logical_and.default, (mask, value)
        return True
    zero = constant(module, node, "zero", torch.zeros(()))
    node.target, node.args = _aten.where.self, (mask, value, zero)
    return True


def _as_numbers(module: GraphModule, node: Node) -> bool:
    """Rewrite x + mask -> x + mask.float(), similarly for integers."""
    sources = [a for a in node.args if isinstance(a, Node)]
    others = [a for a in sources if is_integers(a) or (is_mask(a) and node.target is not _MUL)]
    if not others or node.meta["val"].dtype != torch.float32:
        return False
    for other in others:
        known = tensor_constant(module, other)
        if known is not None:
            number = constant(module, node, "number", known.float())
        else:
            number = _number(node, other)
        node.replace_input_with(other, number)
    return True


def _number(node: Node, other: Node) -> Node:
    number = node.graph.call_function(_aten._to_copy.default, (other,), {"dtype": torch.float32})
    number.meta = {**node.meta, "val": other.meta["val"].float()}
    return number


def _count(node: Node) -> bool:
    """Rewrite mask.sum() -> mask.float().sum() if its readers use a float number, not int64."""
    (mask, *_), readers = node.args, [user.meta.get("val") for user in node.users]
    if not isinstance(mask, Node) or not is_mask(mask) or node.kwargs:
        return False
    if any(not isinstance(v, torch.Tensor) or v.dtype != torch.float32 for v in readers):
        return False
    node.replace_input_with(mask, _number(node, mask))
    node.meta["val"] = node.meta["val"].float()
    return True


def _by_reciprocal(module: GraphModule, node: Node) -> bool:
    """Rewrite x / constant -> x * (1 / constant)."""
    divisor = tensor_constant(module, node.args[1])
    if divisor is None or divisor.numel() == 1 or not divisor.is_floating_point():
        return False
    if not bool(divisor.all()):
        return False
    reciprocal = constant(module, node, "reciprocal", divisor.reciprocal())
    node.target, node.args = _MUL, (node.args[0], reciprocal)
    return True


def name_masks(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many ops were rewritten."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target not in (*_ARITHMETIC, _SUM):
            continue
        with module.graph.inserting_before(node):
            if node.target is _SUM:
                count += _count(node)
            elif node.target is not _MUL or not _choose(module, node):
                count += _as_numbers(module, node)
            else:
                count += 1
            if node.target is _DIV:
                count += _by_reciprocal(module, node)
    return count
