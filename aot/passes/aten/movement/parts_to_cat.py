# SPDX-License-Identifier: Apache-2.0
"""Writes an assignment to a part of a tensor (`state[:, 1:] = x`) as a cat of the parts.

Export turns such assignments into slice_scatter and select_scatter, and a copy of the assigned
value. Leaves slices with a step (assignments_to_gather.py), and assignments with a rule of their
own.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.rule import argument
from aot.passes.aten.build import call
from aot.rules import has_rule

_aten = torch.ops.aten

KEPT = (_aten.select_scatter.default,)
"""Ops whose decomposition needs ops unknown to the device."""


def parts_to_cat(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many nodes were replaced."""
    count = 0
    for node in list(module.graph.nodes):
        with module.graph.inserting_before(node):
            replacement = _replacement(node)
        if replacement is not None:
            node.replace_all_uses_with(replacement)
            module.graph.erase_node(node)
            count += 1
    return count


def _replacement(node: Node) -> Node | None:
    if has_rule(node.target):
        return None
    if node.target is _aten.copy.default:
        target, source = node.args[0], node.args[1]
        assert isinstance(target, Node) and isinstance(source, Node)
        if target.meta["val"].dtype != source.meta["val"].dtype:
            return None
        shape = list(target.meta["val"].shape)
        same = shape == list(source.meta["val"].shape)
        return source if same else call(node, _aten.expand.default, source, shape)
    if node.target is _aten.select_scatter.default:
        dim, start = argument(node, "dim"), argument(node, "index")
        row = call(node, _aten.unsqueeze.default, node.args[1], dim)
        return _cat(node, row, dim, start, start + 1 or None)
    if node.target is _aten.slice_scatter.default and argument(node, "step") == 1:
        start, end = argument(node, "start"), argument(node, "end")
        part = node.args[1]
        assert isinstance(part, Node)
        return _cat(node, part, argument(node, "dim"), start, end)
    return None


def _cat(node: Node, part: Node, dim: int, start: int | None, end: int | None) -> Node:
    """Return `node`'s first argument with `part` in the range from start to end."""
    base = node.args[0]
    assert isinstance(base, Node)
    size = base.meta["val"].shape[dim]
    start, end, _ = slice(start, end).indices(size)
    parts = [part]
    if start > 0:
        parts.insert(0, call(node, _aten.slice.Tensor, base, dim, 0, start))
    if end < size:
        parts.append(call(node, _aten.slice.Tensor, base, dim, end, size))
    return part if len(parts) == 1 else call(node, _aten.cat.default, parts, dim)
