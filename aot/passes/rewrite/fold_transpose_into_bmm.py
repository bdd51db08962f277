# SPDX-License-Identifier: Apache-2.0
"""bmm(a, transpose(b)) -> bmm(a, b) reading b's columns as rows, and transpose(bmm(a, b)) ->
bmm(transpose(b), a) reading a's, if this transpose of b exists already, or b is read so.

The first matches a right side whose columns were rows in memory before transposes and reshapes,
like attention's keys. If more dimensions were exchanged, a transpose keeping such rows whole stays.

The second matches a product whose only reader is a transpose making rows of its columns. Examples
are PointNet's transformed points, used as channels afterwards, and attention over pixels. If more
dimensions were exchanged, such as heads, a transpose of rows stays.

The product reads the remaining transposed inputs, such as attention's heads, in place: it takes
their dimensions in another order. Leaves a left side whose rows are not contiguous.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, arguments, calls, drop_dead_code, edge_of, shape_of
from aot.dialect.transposes import Perm, movement
from aot.passes.rewrite.index_map import before_movement
from kernels.bmm.op import bmm
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_transpose import transpose


def fold_transpose_into_bmm(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many products were rewritten."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not calls(node, "bmm"):
            continue
        values = arguments(node)
        if values["a_order"] or values["b_order"]:
            continue
        right = values["b"]
        source, places = before_movement(right)
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
    changes = drop_dead_code(module.graph)
    count += _exchange_sides(module, builder)
    count += _read_in_place(module, builder)
    if changes or count:
        module.recompile()
    return count


def _read_in_place(module: GraphModule, builder: Builder) -> int:
    count = 0
    for node in list(module.graph.nodes):
        if not calls(node, "bmm"):
            continue
        values, moved = arguments(node), 0
        with module.graph.inserting_before(node):
            for side, order in (("a", "a_order"), ("b", "b_order")):
                source, places = before_movement(values[side])
                movement_of = movement(places)
                if movement_of is None or values[order]:
                    continue
                sizes, perm = movement_of
                is_in_rows = side == "b" or perm[-1] == len(perm) - 1
                if perm == sorted(perm) or not is_in_rows:
                    continue
                if list(shape_of(source)) != sizes:
                    edge, origin = edge_of(values[side]), values[side].meta["origin"]
                    source = builder.call(reshape, source, sizes, edge=edge, origin=origin)
                values |= {side: source, order: perm}
                moved += 1
            if not moved:
                continue
            origin = node.meta["origin"]
            new = builder.call(bmm, *values.values(), edge=edge_of(node), origin=origin)
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
        count += moved
    drop_dead_code(module.graph)
    return count


def _exchange_sides(module: GraphModule, builder: Builder) -> int:
    count = 0
    for node in list(module.graph.nodes):
        if not calls(node, "transpose"):
            continue
        product, places = before_movement(node)
        if not calls(product, "bmm"):
            continue
        moved = _exchanged(shape_of(product), places)
        if moved is None or not _leads_only_to(product, node):
            continue
        values = arguments(product)
        if values["a_order"] or values["b_order"]:
            continue
        left = values["b"] if values["transpose_b"] else _transposed(values["b"], product)
        if left is None:
            continue
        *batch, rows, columns = shape_of(values["b"])
        sizes = [*batch, rows, columns] if values["transpose_b"] else [*batch, columns, rows]
        zero_points = values["b_zero_point"], values["a_zero_point"]
        edge, origin = edge_of(node), node.meta["origin"]
        with module.graph.inserting_before(node):
            left = builder.call(reshape, left, sizes, edge=edge_of(left), origin=origin)
            values |= {"a": left, "b": values["a"], "transpose_b": True}
            values["a_zero_point"], values["b_zero_point"] = zero_points
            new = builder.call(
                bmm, *values.values(), edge=edge_of(product), origin=product.meta["origin"]
            )
            if moved[1] != sorted(moved[1]):
                for op, argument in zip((reshape, transpose), moved, strict=True):
                    new = builder.call(op, new, argument, edge=edge, origin=origin)
            new = builder.call(reshape, new, list(shape_of(node)), edge=edge, origin=origin)
        node.replace_all_uses_with(new)
        count += 1
    drop_dead_code(module.graph)
    return count


def _exchanged(shape: Sequence[int], places: torch.Tensor) -> tuple[list[int], Perm] | None:
    """Return the data movement after a product with exchanged sides, except a reshape.

    It replaces the movement of a product of this shape. Return None if columns did not become whole
    rows.
    """
    rows, columns = shape[-2:]
    if rows == 1 or places.shape[-1] % rows:
        return None
    places = places.reshape(*places.shape[:-1], -1, rows)
    if bool((places.diff() != columns).any()):
        return None
    batch, row, column = places // (rows * columns), places // columns % rows, places % columns
    return movement((batch * columns + column) * rows + row)


def _transposed(matrices: Node, before: Node) -> Node | None:
    """Return a value with the elements of transposed matrices, computed before a node.

    Return None if there is no such value.
    """
    shape, source = shape_of(matrices), matrices
    while calls(source, "reshape"):
        source = arguments(source)["input"]
    found = (n for n in _movements_of(source) if _exchanges(shape, before_movement(n, source)[1]))
    return next((n for n in found if n < before), None)


def _exchanges(shape: Sequence[int], places: torch.Tensor) -> bool:
    """Return True if a movement exchanges the last two dimensions of a value of this shape."""
    order = torch.arange(places.numel()).reshape(tuple(shape))
    return torch.equal(order.mT.flatten(), places.flatten())


def _leads_only_to(source: Node, node: Node) -> bool:
    """Return True if a node is the only reader of a value, through data movement."""
    while node is not source and len(source.users) == 1:
        source = next(iter(source.users))
    return node is source


def _movements_of(source: Node) -> Iterator[Node]:
    for user in source.users:
        if calls(user, "reshape") or calls(user, "transpose"):
            yield user
            yield from _movements_of(user)
