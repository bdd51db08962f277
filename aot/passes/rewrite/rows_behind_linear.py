# SPDX-License-Identifier: Apache-2.0
"""linear(transpose(x)) -> transpose(linear(x)), of what the transpose does to whole rows, in front
of reshapes as well.

Matches rows in another order than the one in which they begin in a value: torch's attention gives
its output projection (position, sample) of heads that are (sample, head, position), and exchanges
positions and samples again behind it. What is left in front is what the rows are made of, as heads
that are joined, which a layer may read in place. That pays only where another transpose undoes the
one that is behind the layer then: choose_layouts.py says where. Leaves rows in an order that no
transpose gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, arguments, calls, drop_dead_code, edge_of, shape_of
from aot.dialect.transposes import Perm
from aot.passes.rewrite.merge_movements import move, regrouped
from aot.passes.rewrite.places import before_movement, is_transposed
from kernels.common.tensor import MAX_RANK
from kernels.linear.op import linear
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_transpose import transpose


@dataclass(frozen=True)
class _Parted:
    """How the rows that a layer reads are moved.

    Attributes:
      source: the value that they are of.
      rows: makes them of the value, in the order in which they begin in it.
      order: gives these the order that the layer reads.
    """

    source: Node
    rows: tuple[list[int], Perm]
    order: tuple[list[int], Perm]


def rows_behind_linear(module: GraphModule, lies: Callable[[str], bool] = lambda _: True) -> int:
    """Rewrites the graph in place; returns how many layers have a transpose behind them now.

    Args:
      module: a dialect graph.
      lies: whether the rows of a value are read as they lie in it; it is asked by the value's name,
        and only where layers read them in another order.
    """
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not calls(node, "linear") or not is_transposed(arguments(node)["input"]):
            continue
        parted = _parted(node)
        if parted is None or not lies(parted.source.name):
            continue
        with module.graph.inserting_before(node):
            node.replace_all_uses_with(_moved(builder, node, parted))
        module.graph.erase_node(node)
        count += 1
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count


def _parted(node: Node) -> _Parted | None:
    """None if the rows are in order, or not in one that a transpose gives."""
    source, places = before_movement(arguments(node)["input"])
    rows = places.reshape(-1, places.shape[-1])
    first = rows[:, 0]
    as_they_begin = first.argsort()
    order = regrouped(as_they_begin.argsort())
    if order is None or order[1] == sorted(order[1]) or len(order[0]) >= MAX_RANK:
        return None
    made = regrouped(rows[as_they_begin])
    if made is None or len(made[0]) > MAX_RANK:
        return None
    return _Parted(source, made, order)


def _moved(builder: Builder, node: Node, parted: _Parted) -> Node:
    """The layer on rows as they begin, and their order behind it."""
    values, origin = arguments(node), node.meta["origin"]
    sizes, perm = parted.order
    edge = edge_of(node)
    before = [*sizes, shape_of(values["input"])[-1]]
    rows = move(builder, parted.source, parted.rows, values["input"])
    values["input"] = builder.call(
        reshape, rows, before, edge=edge_of(values["input"]), origin=origin
    )
    new = builder.call(linear, *values.values(), edge=edge, origin=origin)
    new = builder.call(transpose, new, [*perm, len(perm)], edge=edge, origin=origin)
    return builder.call(reshape, new, list(shape_of(node)), edge=edge, origin=origin)
