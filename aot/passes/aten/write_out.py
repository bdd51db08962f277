# SPDX-License-Identifier: Apache-2.0
"""Writes ops out as others that have a form of their own: a median, and the k-th value, as the last
of a topk; a quotient that is rounded as quotient and rounding.

Matches median, kthvalue, and div by a rounding mode of two tensors of float32. Leaves the median of
a number, and a quotient with a constant of one element, which is a function of one value.
"""

from __future__ import annotations

import operator

import torch
from torch.fx import GraphModule, Node

from aot.passes.aten.build import call
from aot.rules.function import is_scalar
from aot.rules.rule import argument

_aten = torch.ops.aten
_MEDIAN, _MEDIAN_DIM = _aten.median.default, _aten.median.dim
_KTH = _aten.kthvalue.default
_DIV = _aten.div.Tensor_mode
_ROUNDED = {"floor": _aten.floor.default, "trunc": _aten.trunc.default}


def write_out(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many ops were written out."""
    count = 0
    for node in list(module.graph.nodes):
        with module.graph.inserting_before(node):
            if node.target is _DIV:
                count += _divide(node)
            elif node.target is _MEDIAN:
                count += _median(node)
            elif node.target in (_MEDIAN_DIM, _KTH):
                count += _kth_value(node)
    return count


def _divide(node: Node) -> bool:
    x, y, mode = node.args[0], node.args[1], argument(node, "rounding_mode")
    if is_scalar(x) or is_scalar(y) or node.meta["val"].dtype != torch.float32:
        return False
    quotient = call(node, _aten.div.Tensor, x, y)
    result = quotient if mode is None else call(node, _ROUNDED[mode], quotient)
    node.replace_all_uses_with(result)
    return True


def _median(node: Node) -> bool:
    x = node.args[0]
    assert isinstance(x, Node)
    if x.meta["val"].dim() == 0:
        return False
    flat = call(node, _aten.reshape.default, x, [-1])
    value, _ = _kth_smallest(node, flat, _middle(flat, 0), 0, keepdim=False)
    node.replace_all_uses_with(value)
    return True


def _kth_value(node: Node) -> bool:
    x, dim = node.args[0], argument(node, "dim")
    assert isinstance(x, Node)
    if x.meta["val"].dim() == 0:
        return False
    k = _middle(x, dim) if node.target is _MEDIAN_DIM else argument(node, "k")
    results = _kth_smallest(node, x, k, dim, argument(node, "keepdim"))
    for user in list(node.users):
        user.replace_all_uses_with(results[user.args[1]])  # type: ignore[index]
    return True


def _middle(x: Node, dim: int) -> int:
    """Of an even number of values torch's median is the lower one."""
    return (int(x.meta["val"].shape[dim]) + 1) // 2


def _kth_smallest(node: Node, x: Node, k: int, dim: int, keepdim: bool) -> tuple[Node, Node]:
    """The value, counted from 1, and where it is."""
    best = call(node, _aten.topk.default, x, k, dim, False)

    def last(index: int) -> Node:
        result = call(node, operator.getitem, best, index)
        result = call(node, _aten.slice.Tensor, result, dim, k - 1, k)
        return result if keepdim else call(node, _aten.squeeze.dim, result, dim)

    return last(0), last(1)
