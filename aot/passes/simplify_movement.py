# SPDX-License-Identifier: Apache-2.0
"""Removes movement that moves nothing, and values computed twice.

A transpose that leaves every byte in place becomes a reshape; reshapes in a row become one, a reshape to the same shape none;
a second node with the same op and arguments becomes the first.
"""

from __future__ import annotations

from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, arguments, calls, dialect_op, edge_of, shape_of
from aot.dialect.ops.reshape import reshape
from aot.passes.sink_transposes import moves_nothing


def simplify_movement(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many nodes went away or became a reshape."""
    count = 0
    builder = Builder(module, module.graph)
    seen: dict[str, Node] = {}
    for node in list(module.graph.nodes):
        if dialect_op(node) is None:
            continue
        replacement: Node | None = None
        source = node.args[0]
        if calls(node, "transpose"):
            assert isinstance(source, Node)
            if moves_nothing(shape_of(source), arguments(node)["perm"]):
                replacement = source
        elif calls(node, "reshape"):
            if calls(source, "reshape"):
                assert isinstance(source, Node)
                replacement = source.args[0]  # type: ignore[assignment]
            elif isinstance(source, Node) and shape_of(source) == shape_of(node):
                node.replace_all_uses_with(source)
                module.graph.erase_node(node)
                count += 1
                continue
        if replacement is not None:
            with module.graph.inserting_before(node):
                new = builder.call(
                    reshape,
                    replacement,
                    list(shape_of(node)),
                    edge=edge_of(node),
                    origin=node.meta["origin"],
                )
            node.replace_all_uses_with(new)
            module.graph.erase_node(node)
            node = new
            count += 1
        key = f"{node.target} {node.args} {node.kwargs}"
        first = seen.setdefault(key, node)
        if first is not node:
            node.replace_all_uses_with(first)
            module.graph.erase_node(node)
            count += 1
    module.graph.eliminate_dead_code()
    module.recompile()
    return count
