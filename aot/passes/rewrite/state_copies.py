# SPDX-License-Identifier: Apache-2.0
"""Gives every state its own new value (state copy): a computed node, used as the new value of one
state only.

New values overwrite the old ones at the end of a run, one state after the other. Therefore three
kinds of new values are copied first, by a cat of one tensor: an input, a piece of a state, and a
value of two states. So is an output that is an old value in another shape, or a piece of one.
"""

from __future__ import annotations

import math

from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import Builder, Origin, arguments, calls, edge_of, returned, shape_of
from aot.upstream.torch import tree_leaves
from kernels.cat.op import cat
from kernels.strided_copy.op_reshape import reshape


def copy_shared_states(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many values are copied."""
    results, states = returned(module)
    if not states:
        return 0
    output = module.graph.output_node()
    builder = Builder(module, module.graph)
    own: dict[Node, None] = {}
    copies: dict[Node, Node] = {}
    with module.graph.inserting_before(output):
        for old in filter(_is_old, tree_leaves(results)):
            copies[old] = copies.get(old) or _copy(builder, old)
        for new in states:
            own[_copy(builder, new) if new in own or _is_taken(new) else new] = None
    count = len(own.keys() - set(states)) + len(copies)
    output.args = ((*map_arg(results, lambda n: copies.get(n, n)), *own),)
    module.graph.lint()
    module.recompile()
    return count


def _is_taken(value: Node) -> bool:
    """Return True if a value is an input, or an old state or a piece of it."""
    source = value
    while calls(source, "reshape") or calls(source, "slice"):
        source = source.args[0]  # type: ignore[assignment]
    return value.op == "placeholder" or "state" in source.meta


def _is_old(value: Node) -> bool:
    """Return True if a value aliases a state; the run's end overwrites the state."""
    while calls(value, "reshape") or is_piece(value):
        value = value.args[0]  # type: ignore[assignment]
    return "state" in value.meta


def is_piece(value: Node) -> bool:
    """Return True if a value's bytes are contiguous within its input's."""
    if not calls(value, "slice") and not calls(value, "transpose"):
        return False
    a = arguments(value)
    if calls(value, "slice"):
        one = a["step"] == 1 or shape_of(value)[a["dim"]] == 1
        return one and math.prod(shape_of(a["input"])[: a["dim"]]) == 1
    moved = [dim for dim in a["perm"] if shape_of(a["input"])[dim] > 1]
    return moved == sorted(moved)


def _copy(builder: Builder, value: Node) -> Node:
    edge, origin = edge_of(value), Origin(("copy",))
    shape = list(shape_of(value))
    if shape:
        return builder.call(cat, [value], 0, edge=edge, origin=origin)
    row = builder.call(reshape, value, [1], edge=edge, origin=origin)
    copy = builder.call(cat, [row], 0, edge=edge, origin=origin)
    return builder.call(reshape, copy, shape, edge=edge, origin=origin)
