# SPDX-License-Identifier: Apache-2.0
"""cat(slices of x) or gather(x) -> reshape, transpose and reshape, if it gives every element of one
value once.

Matches slices, gathers, concatenations, transposes and reshapes of a value together. Examples are
blocks of pixels that become channels, as in `cat([x[..., ::2, ::2], x[..., 1::2, ::2], …], 1)` or
`unfold` with windows without overlap. Leaves orders that no transpose gives, such as reversed
elements.
"""

from __future__ import annotations

import math

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    Builder,
    calls,
    drop_dead_code,
    edge_of,
    shape_of,
)
from aot.dialect.transposes import Perm, inverse
from aot.passes.rewrite.index_map import places_in, sources
from kernels.common.tensor import MAX_RANK
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_transpose import transpose


def merge_movements(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many values are transposed instead."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not (calls(node, "cat") or calls(node, "gather")):
            continue
        source, *others = sources(node)
        if others or source.meta["val"].numel() != node.meta["val"].numel():
            continue
        moved = regrouped(places_in(module, node, {source: 0}))
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
    """Return a value reshaped, transposed, and reshaped to another node's result.

    Args:
      builder: inserts the nodes.
      source: the value.
      moved: sizes and permutation from `regrouped`.
      like: a node with the quantization, origin and shape of the result.
    """
    (sizes, perm), edge, origin = moved, edge_of(like), like.meta["origin"]
    value = source
    if perm != sorted(perm):
        value = builder.call(reshape, value, sizes, edge=edge_of(source), origin=origin)
        value = builder.call(transpose, value, perm, edge=edge, origin=origin)
    return builder.call(reshape, value, list(shape_of(like)), edge=edge, origin=origin)


def regrouped(places: torch.Tensor) -> tuple[list[int], Perm] | None:
    """Return the reshape and permutation of a data movement: sizes, then a permutation.

    The result has the elements in order, under some shape. Return None if no such pair gives every
    element once.

    Args:
      places: index map: index in the value, in its order, of each element of the result.
    """
    digits: list[tuple[int, int]] = []  # digits of an index: their count and step
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
    """Return the digits of a row of offsets, the one with the largest unit first."""
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
