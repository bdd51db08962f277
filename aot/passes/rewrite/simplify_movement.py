# SPDX-License-Identifier: Apache-2.0
"""Removes movement that moves nothing, and values computed twice.

A transpose that leaves every byte in place becomes a reshape; reshapes in a row become one, a
reshape to the same shape, or a slice of all there is, none; a second node with the same op and
arguments becomes the first.
"""

from __future__ import annotations

from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    NHWC,
    Builder,
    arguments,
    calls,
    dialect_op,
    drop_dead_code,
    edge_of,
    shape_of,
    with_layout,
)
from aot.dialect.ops.reshape import reshape
from aot.passes.rewrite.sink_transposes import moves_nothing


def _unmoved_source(node: Node) -> Node | None:
    """The value whose bytes a node gives under another shape; None if the node is needed."""
    source = node.args[0]
    if not isinstance(source, Node):
        return None
    if calls(node, "transpose"):
        still = moves_nothing(shape_of(source), arguments(node)["perm"])
        return _beneath_reshapes(source) if still else None
    if calls(node, "slice"):
        return source if shape_of(source) == shape_of(node) else None
    if not calls(node, "reshape"):
        return None
    beneath = _beneath_reshapes(source)
    return beneath if beneath is not source or shape_of(source) == shape_of(node) else None


def _beneath_reshapes(node: Node) -> Node:
    while calls(node, "reshape"):
        node = arguments(node)["input"]
    return node


def _replace(node: Node, same: Node) -> None:
    """Lets a node's users read the same bytes under the same shape; NHWC stays known where it was
    known of either.
    """
    if edge_of(node).layout == NHWC:
        same.meta["edge"] = with_layout(edge_of(same), NHWC)
    node.replace_all_uses_with(same)
    node.graph.erase_node(node)


def simplify_movement(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many nodes went away or became a reshape."""
    count = 0
    builder = Builder(module, module.graph)
    seen: dict[str, Node] = {}
    for node in list(module.graph.nodes):
        if dialect_op(node) is None:
            continue
        source = _unmoved_source(node)
        if source is not None:
            if shape_of(source) == shape_of(node):
                new = source
            else:
                with module.graph.inserting_before(node):
                    new = builder.call(
                        reshape,
                        source,
                        list(shape_of(node)),
                        edge=edge_of(node),
                        origin=node.meta["origin"],
                    )
            _replace(node, new)
            count += 1
            if new is source:
                continue
            node = new
        key = f"{node.target} {node.args} {node.kwargs}"
        first = seen.setdefault(key, node)
        if first is not node:
            _replace(node, first)
            count += 1
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count
