# SPDX-License-Identifier: Apache-2.0
"""One transpose for a concatenation or a gather that gives every element of one value once.

Matches what slices, gathers, concatenations, transposes and reshapes make of a value, if it is the
same as a reshape, a transpose and a reshape: blocks of pixels that become channels, as in
`cat([x[..., ::2, ::2], x[..., 1::2, ::2], …], 1)` or `unfold` with windows that do not overlap.
Leaves elements in an order that no transpose gives, as reversed ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import (
    Builder,
    arguments,
    calls,
    drop_dead_code,
    edge_of,
    shape_of,
    tensor_constant,
)
from aot.dialect.ops.reshape import reshape
from aot.dialect.ops.transpose import transpose
from aot.dialect.transposes import Perm, inverse
from kernels.common.tensor import MAX_RANK

_MOVE = ("reshape", "transpose", "slice", "gather", "cat")


def merge_movements(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many values are transposed instead."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not (calls(node, "cat") or calls(node, "gather")):
            continue
        source = _source(node)
        if source is None or source.meta["val"].numel() != node.meta["val"].numel():
            continue
        moved = regrouped(_places(module, node, source))
        if moved is None or len(moved[0]) > MAX_RANK:
            continue
        with module.graph.inserting_before(node):
            new = move(builder, source, moved, node)
        node.replace_all_uses_with(new)
        count += 1
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count


def move(builder: Builder, source: Node, moved: tuple[list[int], Perm], like: Node) -> Node:
    """A value reshaped, transposed, and reshaped to what another node gives.

    Args:
      builder: inserts the nodes.
      source: the value.
      moved: sizes and permutation, as `regrouped` gives them.
      like: of the quantization, origin and shape of the result.
    """
    (sizes, perm), edge, origin = moved, edge_of(like), like.meta["origin"]
    value = source
    if perm != sorted(perm):
        value = builder.call(reshape, value, sizes, edge=edge_of(source), origin=origin)
        value = builder.call(transpose, value, perm, edge=edge, origin=origin)
    return builder.call(reshape, value, list(shape_of(like)), edge=edge, origin=origin)


def regrouped(places: torch.Tensor) -> tuple[list[int], Perm] | None:
    """How a value is moved: sizes to reshape it to, and the permutation that follows; what comes
    out has the elements in order, under some shape. None if no such two give every element once.

    Args:
      places: where each element of the result is in the value, counted in its order.
    """
    digits: list[tuple[int, int]] = []  # of a place: how many there are, and their step
    total = torch.zeros((), dtype=torch.int64)
    for dim in range(places.dim()):
        first = tuple(slice(None) if d == dim else 0 for d in range(places.dim()))
        offsets = places[first] - places.flatten()[0]
        total = total.unsqueeze(-1) + offsets
        found = _digits(offsets)
        if found is None:
            return None
        digits += found
    if int(places.flatten()[0]) != 0 or not torch.equal(total.expand(places.shape), places):
        return None
    order = sorted(range(len(digits)), key=lambda k: -digits[k][1])
    sizes = [digits[k][0] for k in order]
    steps = [math.prod(sizes[k + 1 :]) for k in range(len(sizes))]
    if steps != [digits[k][1] for k in order] or math.prod(sizes) != places.numel():
        return None
    return sizes, inverse(order)


def _digits(offsets: torch.Tensor) -> list[tuple[int, int]] | None:
    """The digits that a row of offsets counts with, the first one of the largest unit."""
    count = len(offsets)
    if count == 1:
        return []
    step = int(offsets[1])
    for size in (s for s in range(count, 1, -1) if count % s == 0):
        blocks = offsets.reshape(-1, size)
        if torch.equal(blocks - blocks[:, :1], (torch.arange(size) * step).expand_as(blocks)):
            rest = _digits(blocks[:, 0])
            return None if rest is None or step < 1 else [*rest, (size, step)]
    return None


def _source(node: Node) -> Node | None:
    """The one value that a node is made of by movement, None if there are several."""
    sources: set[Node] = set()
    seen: set[Node] = set()
    pending = [node]
    while pending:
        value = pending.pop()
        if not _moves(value):
            sources.add(value)
        elif value not in seen:
            seen.add(value)
            pending += _moved_inputs(value)
        if len(sources) > 1:
            return None
    return next(iter(sources))


def _moves(node: Node) -> bool:
    return any(calls(node, name) for name in _MOVE)


def _moved_inputs(node: Node) -> Sequence[Node]:
    values = arguments(node)
    inputs: Sequence[Node] = values["inputs"] if calls(node, "cat") else [values["input"]]
    return inputs


def _places(module: GraphModule, node: Node, source: Node) -> torch.Tensor:
    """Where each element of a value is in the one that it is made of."""
    order = torch.arange(source.meta["val"].numel()).reshape(shape_of(source))
    known = {source: order}

    def places(value: Node) -> torch.Tensor:
        constant = tensor_constant(module, value)
        if constant is not None and value is not source:
            return constant
        if value not in known:
            args = map_arg(value.args, places)
            known[value] = value.target(*args)  # type: ignore[operator]
        return known[value]

    return places(node)
