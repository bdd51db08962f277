# SPDX-License-Identifier: Apache-2.0
"""Determinants, inverses and linear equations of small matrices: products of the matrix's elements,
by expansion along a row, for all matrices at once.

Leaves matrices of more than 4 rows. A singular matrix gives no error on the device: a quotient by 0
becomes the largest value of its type.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.results import results_of, taken_from
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions.builders import Results, read_results, source_of

_aten = torch.ops.aten
_MOST_ROWS = 4

Minor = tuple[tuple[int, ...], tuple[int, ...]]
"""Determinant of these rows and columns; an exchange of rows changes its sign."""


def _determinant(module: GraphModule, node: Node) -> Results:
    size = _size(node)
    if not size:
        return {}
    flat = _flat(node, size)
    whole = (*range(size),)
    return {
        0: call(node, _aten.squeeze.dims, _minors(module, node, flat, size, [(whole, whole)]), [-1])
    }


def _inverse(module: GraphModule, node: Node) -> Results:
    size = _size(node)
    if not size:
        return {}
    adjugate, determinant = _adjugate(module, node, size)
    return {0: call(node, _aten.div.Tensor, adjugate, determinant)}


def _solved(module: GraphModule, node: Node) -> Results:
    size, b = _size(node), argument(node, "B")
    if not size:
        return {}
    shape = source_of(node).meta["val"].shape
    is_vector = b.meta["val"].dim() == 1 or b.meta["val"].shape == shape[:-1]
    if is_vector:
        b = call(node, _aten.unsqueeze.default, b, -1)
    adjugate, determinant = _adjugate(module, node, size)
    sides = (adjugate, b) if argument(node, "left") else (b, adjugate)
    x = call(node, _aten.div.Tensor, call(node, _aten.matmul.default, *sides), determinant)
    return {0: call(node, _aten.squeeze.dims, x, [-1]) if is_vector else x}


def _size(node: Node) -> int:
    """Return the rows of a small enough matrix; 0 for others, and if more than the result is read.

    The check for singular matrices is removed.
    """
    size = int(source_of(node).meta["val"].shape[-1])
    others = [value for value in results_of(node) if taken_from(value)[1] != 0]
    checks = [user for value in others for user in value.users]
    if size > _MOST_ROWS or any(c.target is not _aten._linalg_check_errors.default for c in checks):
        return 0
    for unread in (*checks, *others):
        node.graph.erase_node(unread)
    return size if read_results(node) == [0] else 0


def _flat(node: Node, size: int) -> Node:
    """Return the elements of each matrix in a row."""
    x = source_of(node)
    return call(node, _aten.reshape.default, x, [*x.meta["val"].shape[:-2], size * size])


def _adjugate(module: GraphModule, node: Node, size: int) -> tuple[Node, Node]:
    """Return the inverse times the determinant, and the determinant in a broadcastable shape."""
    flat = _flat(node, size)
    lead = list(flat.meta["val"].shape[:-1])
    if size == 1:
        one = constant(module, node, "one", torch.ones([*lead, 1, 1]))
        return one, call(node, _aten.unsqueeze.default, flat, -1)
    minors = []
    for i, j in itertools.product(range(size), repeat=2):
        rows, columns = ([k for k in range(size) if k != left] for left in (j, i))
        if (i + j) % 2:
            rows[:2] = reversed(rows[:2])
        minors.append(((*rows,), (*columns,)))
    adjugate = _minors(module, node, flat, size, minors)
    if size == 2:  # a row alone cannot change places
        signs = constant(module, node, "signs", torch.tensor([1.0, -1.0, -1.0, 1.0]))
        adjugate = call(node, _aten.mul.Tensor, adjugate, signs)
    row = _taken(module, node, flat, range(size))
    column = _taken(module, node, adjugate, range(0, size * size, size))
    products = call(node, _aten.mul.Tensor, row, column)
    determinant = call(node, _aten.sum.dim_IntList, products, [-1], True)
    return (
        call(node, _aten.reshape.default, adjugate, [*lead, size, size]),
        call(node, _aten.unsqueeze.default, determinant, -1),
    )


def _minors(
    module: GraphModule, node: Node, flat: Node, size: int, minors: Sequence[Minor]
) -> Node:
    """Return all minors of an order in a row, each expanded along its first row."""
    order = len(minors[0][0])
    if order == 1:
        places = [row * size + column for (row,), (column,) in minors]
        return _taken(module, node, flat, places)
    expanded = [
        [(rows[1:], (*columns[:k], *columns[k + 1 :])) for rows, columns in minors]
        for k in range(order)
    ]
    smaller = sorted({minor for each in expanded for minor in each})
    of = _minors(module, node, flat, size, smaller)
    total: Node | None = None
    for k, each in enumerate(expanded):
        elements = [rows[0] * size + columns[k] for rows, columns in minors]
        term = call(
            node,
            _aten.mul.Tensor,
            _taken(module, node, flat, elements),
            _taken(module, node, of, [smaller.index(minor) for minor in each]),
        )
        join = _aten.sub.Tensor if k % 2 else _aten.add.Tensor
        total = term if total is None else call(node, join, total, term)
    assert total is not None
    return total


def _taken(module: GraphModule, node: Node, x: Node, places: Sequence[int]) -> Node:
    if [*places] == [*range(x.meta["val"].shape[-1])]:
        return x
    index = constant(module, node, "places", torch.tensor([*places]))
    return call(node, _aten.index_select.default, x, -1, index)


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten._linalg_det.default: _determinant,
    _aten.linalg_inv_ex.default: _inverse,
    _aten._linalg_solve_ex.default: _solved,
}
