# SPDX-License-Identifier: Apache-2.0
"""No-op clamps, such as -inf in maximum(x, limits), are taken out of a constant. A range holding
them has no room for the others. Minus infinity would become the least step of its own range, and x
may be below it.

Matches maximum, minimum and clamp with constants of more than one element. Some elements are at
least `NO_LIMIT` from 0, on the side without effect. The op becomes where(them, x, maximum(x, the
others)), or x itself if there are no others. Leaves constants that broadcast x.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.rules.function import is_scalar

NO_LIMIT = 1e9
"""Beyond all quantized values: models write -1e9, the least float, or infinity for it."""

_aten = torch.ops.aten
_MAXIMUM, _MINIMUM = _aten.maximum.default, _aten.minimum.default
_CLAMP, _WHERE = _aten.clamp.Tensor, _aten.where.self
_LOWER = {_MAXIMUM, _aten.fmax.default}
_UPPER = {_MINIMUM, _aten.fmin.default}


def _far(module: GraphModule, limit: object, is_lower: bool) -> torch.Tensor | None:
    """Return a mask of a constant's no-op elements; None if all are, or if it is no
    such constant.
    """
    known = tensor_constant(module, limit)
    if known is None or is_scalar(limit) or not known.is_floating_point():
        return None
    far = known <= -NO_LIMIT if is_lower else known >= NO_LIMIT
    return far if bool(far.any()) else None


def _limited(module: GraphModule, node: Node, x: Node, limit: Node, is_lower: bool) -> Node:
    """Return the clamped value in place of `node`, at the graph's insertion point."""
    target, far = _MAXIMUM if is_lower else _MINIMUM, _far(module, limit, is_lower)
    if far is None:
        return call(node, target, x, limit)
    if bool(far.all()):
        return x
    known = tensor_constant(module, limit)
    assert known is not None
    near = constant(module, node, "limits", torch.where(far, known[~far][0], known))
    mask = constant(module, node, "unlimited", far.expand(node.meta["val"].shape))
    return call(node, _WHERE, mask, x, call(node, target, x, near))


def drop_noop_clamps(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many ops changed."""
    count = 0
    for node in list(module.graph.nodes):
        x: Any
        limits: list[tuple[Any, bool]]
        if node.target is _CLAMP:
            x = node.args[0]
            limits = [(argument(node, "min"), True), (argument(node, "max"), False)]
        elif node.target in _LOWER | _UPPER:
            is_lower = node.target in _LOWER
            a, b = node.args[:2]
            x, of = (a, b) if _far(module, b, is_lower) is not None else (b, a)
            limits = [(of, is_lower)]
        else:
            continue
        limits = [(limit, is_lower) for limit, is_lower in limits if limit is not None]
        if all(_far(module, *limit) is None for limit in limits):
            continue
        if x.meta["val"].shape != node.meta["val"].shape:
            continue
        value = x
        with module.graph.inserting_before(node):
            for limit, is_lower in limits:
                value = _limited(module, node, value, limit, is_lower)
        node.replace_all_uses_with(value)
        module.graph.erase_node(node)
        count += 1
    return count
