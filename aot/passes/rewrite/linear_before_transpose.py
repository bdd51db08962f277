# SPDX-License-Identifier: Apache-2.0
"""linear(transpose(x)) -> transpose(linear(x)), for a transpose of whole rows, also before
reshapes.

Matches rows in another order than their order in a value. An example is torch's attention: its
output projection reads rows (position, sample) of heads (sample, head, position), and exchanges
positions and samples again after it. The part forming the rows, such as joining heads, stays
before; a layer may read it in place. The change pays only if another transpose undoes the one after
the layer: choose_layouts.py selects the places. Leaves rows in an order that no transpose gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, arguments, calls, drop_dead_code, edge_of, shape_of
from aot.dialect.transposes import Perm
from aot.passes.rewrite.index_map import before_movement, is_transposed
from aot.passes.rewrite.merge_movements import move, regrouped
from kernels.common.tensor import MAX_RANK
from kernels.linear.op import linear
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_transpose import transpose


@dataclass(frozen=True)
class _Parted:
    """Movement of a layer's rows.

    Attributes:
      source: the value containing them.
      rows: makes rows of the value, in its memory order.
      order: puts them into the layer's order.
    """

    source: Node
    rows: tuple[list[int], Perm]
    order: tuple[list[int], Perm]


def linear_before_transpose(
    module: GraphModule, lies: Callable[[str], bool] = lambda _: True
) -> int:
    """Rewrite the graph in place; return the number of layers with a new transpose after them.

    Args:
      module: a dialect graph.
      lies: returns True if the rows of a value are read in memory order. It is called
        with the value's name, and only if layers read its rows in another order.
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
    """Return the movement of rows; None if they are in order, or in one that no transpose gives."""
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
    """Return the layer on rows in memory order, with their order after it."""
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
