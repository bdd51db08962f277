# SPDX-License-Identifier: Apache-2.0
"""Computed indices as rows of a table. index, gather, index_put and scatter read and write a value
of two dimensions. Its rows hold elements that stay together, and the index map holds a row number
for each position.

A negative or too large index refers to no row and is an error on the device. Negative constants are
converted here: they count from the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.fx import Node

from aot.dialect.graph import Edge, edge_of, shape_of, tensor_constant
from aot.dialect.rule import Call, argument
from aot.rules.function import is_mask
from kernels.integer.op import integer_place
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_transpose import transpose

_aten = torch.ops.aten
BY_ELEMENT = (_aten.gather.default, _aten.scatter.src, _aten.scatter_add.default)
"""Ops with an index for each element, along one dimension."""


@dataclass(frozen=True)
class IndexedRows:
    """Index map of an op.

    Attributes:
      front: dimensions of the value that form the rows, which come first; the others are
        in a row.
      rows: int32 of `shape`, a row number each.
      shape: of the indices together.
      first: the dimension of the result, or of the written values, where `shape` starts;
        the others are those of a row.
    """

    front: list[int]
    rows: Node
    shape: tuple[int, ...]
    first: int

    def table(self, call: Call, x: Node) -> Node:
        """Return the value as [rows, width]."""
        shape = shape_of(x)
        rest = [d for d in range(len(shape)) if d not in self.front]
        order = [*self.front, *rest]
        if order != sorted(order):
            x = call.emit(transpose, x, order, edge=edge_of(x))
        rows, width = (math.prod(shape[d] for d in dims) for dims in (self.front, rest))
        return call.emit(reshape, x, [rows, width], edge=edge_of(x))

    def from_table(self, call: Call, x: Node, shape: Sequence[int]) -> Node:
        """Convert the result of `table` for a value of this shape back to that shape."""
        rest = [d for d in range(len(shape)) if d not in self.front]
        order = [*self.front, *rest]
        x = call.emit(reshape, x, [shape[d] for d in order])
        if order == sorted(order):
            return x
        return call.emit(transpose, x, [order.index(d) for d in range(len(order))])

    def named(self, call: Call, x: Node) -> Node:
        """Return the values written to the indexed rows, as [count, width]."""
        shape, count = shape_of(x), len(self.shape)
        at = range(self.first, self.first + count)
        order = [*at, *(d for d in range(len(shape)) if d not in at)]
        if order != sorted(order):
            x = call.emit(transpose, x, order, edge=edge_of(x))
        width = math.prod(shape[d] for d in order[count:])
        return call.emit(reshape, x, [math.prod(self.shape), width], edge=edge_of(x))

    def from_named(self, call: Call, x: Node, rest: Sequence[int]) -> Node:
        """Convert rows of the shape `rest` back: the inverse of `named`."""
        x = call.emit(reshape, x, [*self.shape, *rest])
        if not self.first:
            return x
        count = len(self.shape)
        order = [*range(count, count + len(rest))]
        order[self.first : self.first] = range(count)
        return call.emit(transpose, x, order)


def problem(node: Node) -> tuple[str, str] | None:
    """Return why an op's indices have no index map, and a replacement; None if they have one."""
    if any(is_mask(n) for n in _indices(node).values()):
        return "it takes a mask for indices", "torch.where(mask, value, x)"
    return None


def places(call: Call, shape: tuple[int, ...]) -> IndexedRows:
    """Return the index map of a call for a value of this shape."""
    if call.node.target in BY_ELEMENT:
        return _by_element(call, shape)
    given = _indices(call.node)
    front = [*given]
    rows = _constant_or(call, given[front[0]], shape[front[0]])
    count = shape[front[0]]
    for dim in front[1:]:
        column = _constant_or(call, given[dim], shape[dim])
        rows = _place(call, rows, column, count, shape[dim])
        count *= shape[dim]
    together = front == [*range(front[0], front[0] + len(front))]
    return IndexedRows(front, rows, tuple(shape_of(rows)), front[0] if together else 0)


def _by_element(call: Call, shape: tuple[int, ...]) -> IndexedRows:
    dim = int(argument(call.node, "dim")) % len(shape)
    index = argument(call.node, "index")
    indexed = tuple(index.meta["val"].shape)
    # One index is expanded over a whole row.
    behind, width = shape[dim + 1 :], 1
    source = index.args[0] if index.target is _aten.expand.default else None
    if isinstance(source, Node) and indexed[dim + 1 :] == behind:
        given = tuple(source.meta["val"].shape)
        if len(given) == len(shape) and all(size == 1 for size in given[dim + 1 :]):
            lead = given[: dim + 1] == indexed[: dim + 1]
            index, width = (source, math.prod(behind)) if lead else (index, 1)
    rows, count = _constant_or(call, index, shape[dim]), shape[dim]
    whole = width > 1
    if math.prod(shape[:dim]) > 1:
        start = _counted(call, "start", shape[:dim], indexed[:dim], len(shape))
        rows = _place(call, start, rows, math.prod(shape[:dim]), shape[dim])
        count *= math.prod(shape[:dim])
    if not whole and math.prod(behind) > 1:
        end = _counted(call, "end", behind, indexed[dim + 1 :], 0)
        rows = _place(call, rows, end, count, math.prod(behind))
    front = [*range(dim + 1)] if whole else [*range(len(shape))]
    named = indexed[: dim + 1] if whole else indexed
    return IndexedRows(front, rows, named, 0)


def _counted(call: Call, name: str, shape: Sequence[int], part: Sequence[int], rank: int) -> Node:
    """Return the positions of a part of a shape, with trailing dimensions of size 1 up
    to a rank.
    """
    numbers = torch.arange(math.prod(shape), dtype=torch.int32).reshape(list(shape))
    numbers = numbers[tuple(slice(size) for size in part)]
    return call.constant(name, numbers.reshape(*part, *[1] * (rank - len(part))).contiguous())


def _place(call: Call, a: Node, b: Node, rows: int, columns: int) -> Node:
    known = [call.builder.constant_value(n) for n in (a, b)]
    if known[0] is not None and known[1] is not None:
        return call.constant("rows", integer_place.reference(*known, rows, columns))
    return call.emit(integer_place, a, b, rows, columns, edge=Edge())


def _constant_or(call: Call, index: Node, size: int) -> Node:
    """Return an index for the device. Constants get no negative indices."""
    known = tensor_constant(call.module, index)
    if known is None:
        return call.unquantized(index)
    known = torch.where(known < 0, known + size, known)
    return call.constant(f"{index.name}_index", known.to(torch.int32))


def _indices(node: Node) -> dict[int, Node]:
    """Return the indices by dimension."""
    if node.target in BY_ELEMENT:
        return {int(argument(node, "dim")): argument(node, "index")}
    if node.target is _aten.index_select.default:
        rank = node.meta["val"].dim()
        return {int(argument(node, "dim")) % rank: argument(node, "index")}
    return {d: n for d, n in enumerate(argument(node, "indices")) if n is not None}
