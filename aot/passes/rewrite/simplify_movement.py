# SPDX-License-Identifier: Apache-2.0
"""Removes movement without effect, and values computed twice.

- A transpose that leaves every byte in place -> a reshape. So is a second transpose
  moving a value's bytes like the first, under another shape.
- Reshapes in a row -> one. A reshape to the same shape, or a slice of everything ->
  none.
- A second node with the same op and arguments -> the first.
"""

from __future__ import annotations

import math

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
from aot.passes.rewrite.sink_transposes import moves_nothing
from kernels.strided_copy.op_reshape import reshape


def _unmoved_source(node: Node) -> Node | None:
    """Return the value with the same bytes in another shape; None if the node is needed."""
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


def _moved_bytes(node: Node) -> str:
    """Return a text for the byte movement of a transpose: equal texts mean equal movement."""
    source = arguments(node)["input"]
    shape = shape_of(source)
    runs: list[list[int]] = []  # of dimensions staying together
    for dim in (d for d in arguments(node)["perm"] if shape[d] > 1):
        between = shape[runs[-1][-1] + 1 : dim] if runs else ()
        if runs and runs[-1][-1] < dim and math.prod(between) == 1:
            runs[-1].append(dim)
        else:
            runs.append([dim])
    sizes = [math.prod(shape[d] for d in run) for run in runs]
    order = [sorted(runs).index(run) for run in runs]
    return f"{_beneath_reshapes(source)} {sizes} {order}"


def _beneath_reshapes(node: Node) -> Node:
    while calls(node, "reshape"):
        node = arguments(node)["input"]
    return node


def _replace(node: Node, same: Node) -> None:
    """Let a node's users read the same bytes under the same shape; NHWC stays known where it was
    known of either.
    """
    if edge_of(node).layout == NHWC:
        same.meta["edge"] = with_layout(edge_of(same), NHWC)
    node.replace_all_uses_with(same)
    node.graph.erase_node(node)


def _reshaped(builder: Builder, source: Node, node: Node) -> Node:
    """Return a value in the shape, and in the place, of a node of the same bytes."""
    shape = list(shape_of(node))
    if list(shape_of(source)) == shape:
        return source
    with builder.graph.inserting_before(node):
        return builder.call(reshape, source, shape, edge=edge_of(node), origin=node.meta["origin"])


def simplify_movement(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many nodes went away or became a reshape."""
    count = 0
    builder = Builder(module, module.graph)
    seen: dict[str, Node] = {}
    for node in list(module.graph.nodes):
        if dialect_op(node) is None:
            continue
        source = _unmoved_source(node)
        if source is not None:
            new = _reshaped(builder, source, node)
            _replace(node, new)
            count += 1
            if new is source:
                continue
            node = new
        if calls(node, "transpose"):
            same = seen.setdefault(_moved_bytes(node), node)
            if same is not node:
                _replace(node, _reshaped(builder, same, node))
                count += 1
                continue
        key = f"{node.target} {node.args} {node.kwargs}"
        first = seen.setdefault(key, node)
        if first is not node:
            _replace(node, first)
            count += 1
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count
