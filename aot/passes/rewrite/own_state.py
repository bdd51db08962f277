# SPDX-License-Identifier: Apache-2.0
"""Gives every state a new value of its own: a node that computes it, and nothing else's new value.

At the end of a run new values are written over the old ones, one state after the other; so a value
that is an input, a piece of a state, or the new value of two states is copied first, by a cat of
one tensor. So is an output that is an old value in another shape, or a
piece of one.
"""

from __future__ import annotations

import math

from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import Builder, Origin, arguments, calls, edge_of, returned, shape_of
from aot.upstream.torch import tree_leaves
from kernels.cat.op import cat
from kernels.strided_copy.op_reshape import reshape


def own_state(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many values are copied."""
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
    """Whether a value is an input or (a piece of) a state as it was."""
    source = value
    while calls(source, "reshape") or calls(source, "slice"):
        source = source.args[0]  # type: ignore[assignment]
    return value.op == "placeholder" or "state" in source.meta


def _is_old(value: Node) -> bool:
    """Whether a value lies where a state does, which the run ends with writing."""
    while calls(value, "reshape") or is_piece(value):
        value = value.args[0]  # type: ignore[assignment]
    return "state" in value.meta


def is_piece(value: Node) -> bool:
    """Whether a value's bytes lie in its input's, one after the other."""
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
