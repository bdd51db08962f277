# SPDX-License-Identifier: Apache-2.0
"""bmm(a, transpose(b)) -> bmm(a, b) that reads b's columns as rows.

Matches a right side whose columns lie in memory as rows did before transposes and reshapes, what
attention makes of its keys. Where more dimensions were exchanged, a transpose that keeps such rows
whole stays. Leaves the left side.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, arguments, calls, edge_of, shape_of
from aot.dialect.ops.bmm import bmm
from aot.dialect.ops.reshape import reshape
from aot.dialect.ops.transpose import transpose
from aot.dialect.transposes import movement


def fold_transpose_into_bmm(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many products were rewritten."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not calls(node, "bmm"):
            continue
        values = arguments(node)
        right = values["b"]
        source, places = _moved(right)
        moved = movement(places.mT)
        # A row of one element, or a whole row, is as good as a column.
        if moved is None or places.shape[-2] == 1 or moved[1][-1] != len(moved[1]) - 1:
            continue
        sizes, perm = moved
        edge, origin = edge_of(right), right.meta["origin"]
        with module.graph.inserting_before(node):
            if list(shape_of(source)) != sizes:
                source = builder.call(reshape, source, sizes, edge=edge, origin=origin)
            if perm != sorted(perm):
                source = builder.call(transpose, source, perm, edge=edge, origin=origin)
            values["b"], values["transpose_b"] = source, not values["transpose_b"]
            new = builder.call(
                bmm, *values.values(), edge=edge_of(node), origin=node.meta["origin"]
            )
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
        count += 1
    module.graph.eliminate_dead_code()
    module.recompile()
    return count


def _moved(node: Node) -> tuple[Node, torch.Tensor]:
    """A value before it was moved, and where each element of the node's is in it."""
    steps: list[Node] = []
    while calls(node, "reshape") or calls(node, "transpose"):
        steps.append(node)
        source = node.args[0]
        assert isinstance(source, Node)
        node = source
    shape = shape_of(node)
    places = torch.arange(node.meta["val"].numel()).reshape(shape)
    for step in reversed(steps):
        places = step.target(places, *step.args[1:])  # type: ignore[operator]
    return node, places
