# SPDX-License-Identifier: Apache-2.0
"""Decompositions of reductions by indices: scatter_reduce, index_reduce, scatter with addition or
multiplication, and sums of integers. Sums and counts of floats use scatter_add. All others use a
mask of the elements for each index.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions.builders import Results, product_of, source_of
from aot.rules.function import is_integers
from aot.rules.scatter import ADDS_ROWS

_aten = torch.ops.aten
_HOW = {"add": "sum", "multiply": "prod"}
_BEST: dict[str, tuple[Any, Any, Any]] = {
    "amax": (_aten.amax.default, _aten.amin.default, _aten.maximum.default),
    "amin": (_aten.amin.default, _aten.amax.default, _aten.minimum.default),
}
"""The reduction, the opposite one, and the op of two values."""


@dataclass(frozen=True)
class _Reduction:
    """A reduction by indices.

    Attributes:
      node: the op; new nodes are inserted before it.
      index: of each element of the source, or of each row of it.
      how: "sum", "prod", "mean", "amax" or "amin".
      keeps: True if the input's own elements count.
      along: the dimension, if the op has no argument of that name.
      by_rows: True if the index is a vector.
    """

    module: GraphModule
    node: Node
    index: Node
    source: Node
    how: str
    keeps: bool
    along: int | None = None
    by_rows: bool = False

    @property
    def x(self) -> Node:
        return source_of(self.node)

    @property
    def dim(self) -> int:
        dim = argument(self.node, "dim") if self.along is None else self.along
        rank: int = self.x.meta["val"].dim()
        return int(dim) % rank

    def call(self, target: Any, *args: Any) -> Node:
        return call(self.node, target, *args)

    def constant(self, name: str, value: torch.Tensor) -> Node:
        return constant(self.module, self.node, name, value)


def _scattered(module: GraphModule, node: Node) -> Results:
    index, source = argument(node, "index"), node.args[3]
    if not isinstance(source, Node):
        value: Any = source
        dtype = node.meta["val"].dtype
        values = torch.full(index.meta["val"].shape, value, dtype=dtype)
        source = constant(module, node, "value", values)
    how = _HOW[argument(node, "reduce")]
    return _reduced(_Reduction(module, node, index, source, how, True))


def _reduces(module: GraphModule, node: Node) -> Results:
    index, source, how = (argument(node, name) for name in ("index", "src", "reduce"))
    keeps = bool(argument(node, "include_self"))
    return _reduced(_Reduction(module, node, index, source, how, keeps))


def _by_rows(module: GraphModule, node: Node) -> Results:
    index, source, how = (argument(node, name) for name in ("index", "source", "reduce"))
    keeps = bool(argument(node, "include_self"))
    return _reduced(_Reduction(module, node, index, source, how, keeps, by_rows=True))


def whole_elements(module: GraphModule, node: Node) -> Results:
    """Decompose scatter_add of integers."""
    index, source = argument(node, "index"), argument(node, "src")
    return _reduced(_Reduction(module, node, index, source, "sum", True))


def whole_rows(module: GraphModule, node: Node, indices: Sequence[Any], source: Node) -> Results:
    """Decompose the adding index_put of integers, by one vector of indices."""
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    if len(dims) != 1 or indices[dims[0]].meta["val"].dim() != 1:
        return {}
    (dim,) = dims
    return _reduced(_Reduction(module, node, indices[dim], source, "sum", True, dim, by_rows=True))


def _reduced(of: _Reduction) -> Results:
    x = of.x
    is_float = x.meta["val"].dtype == torch.float32
    if not is_float and not is_integers(x):
        return {}
    by_sums = is_float and of.how in ("sum", "mean")
    return {0: _by_sums(of) if by_sums else _by_mask(of)}


def _by_sums(of: _Reduction) -> Node:
    x = of.x
    total = _summed(of, of.source)
    if of.keeps:
        total = of.call(_aten.add.Tensor, x, total)
    if of.keeps and of.how == "sum":
        return total
    count = _count(of)
    if of.how == "mean":
        divisor = of.call(_aten.clamp.default, count, 1.0)
        total = of.call(_aten.div.Tensor, total, divisor)
    if of.keeps:
        return total
    return of.call(_aten.where.self, of.call(_aten.gt.Scalar, count, 0.5), total, x)


def _summed(of: _Reduction, source: Node) -> Node:
    x, dim = of.x, of.dim
    nothing = of.constant("nothing", torch.zeros(x.meta["val"].shape))
    if of.by_rows:
        return of.call(ADDS_ROWS, nothing, [*[None] * dim, of.index], source, True)
    return of.call(_aten.scatter_add.default, nothing, dim, of.index, source)


def _count(of: _Reduction) -> Node:
    """Return the number of elements for each index, with the input's own ones if they count."""
    x, dim = of.x, of.dim
    known, shape = tensor_constant(of.module, of.index), x.meta["val"].shape
    if known is None:
        given = (of.source if of.by_rows else of.index).meta["val"].shape
        count = _summed(of, of.constant("ones", torch.ones(given)))
        own = of.constant("own", torch.ones(()))
        return of.call(_aten.add.Tensor, count, own) if of.keeps else count
    if of.by_rows:
        counted = torch.bincount(known, minlength=shape[dim]).float()
        counted = counted.reshape([-1, *[1] * (len(shape) - 1 - dim)]).expand(shape)
    else:
        counted = torch.zeros(shape).scatter_add(dim, known, torch.ones(known.shape))
    return of.constant("count", counted + of.keeps)


def _by_mask(of: _Reduction) -> Node:
    """Reduce the source's elements for each index under a mask of those belonging to it."""
    x, dim = of.x, of.dim
    shape = list(x.meta["val"].shape)
    part = shape if of.by_rows else list(of.index.meta["val"].shape)
    part[dim] = shape[dim]
    own = _cut(of, x, part)
    given = part.copy()
    given[dim] = of.index.meta["val"].shape[0 if of.by_rows else dim]
    values = of.call(_aten.unsqueeze.default, _rows(of, _cut(of, of.source, given)), 1)
    index = of.index if of.by_rows else of.call(_aten.unsqueeze.default, _rows(of, of.index), 1)
    places = of.constant("places", torch.arange(shape[dim])[:, None])
    goes = of.call(_aten.eq.Tensor, index, places)
    result = _reduced_rows(of, _rows(of, own), values, goes)
    turned = part.copy()
    turned[dim], turned[-1] = turned[-1], turned[dim]
    result = of.call(_aten.reshape.default, result, turned)
    result = of.call(_aten.transpose.int, result, dim, -1)
    return _in_place(of, result, x)


def _reduced_rows(of: _Reduction, own: Node, values: Node, goes: Node) -> Node:
    """Return values [rows, 1, elements] reduced for each place, under the mask `goes`."""
    some = of.call(_aten.any.dim, goes, -1)
    if of.how in _BEST:
        reduce, opposite, of_two = _BEST[of.how]
        least = of.call(opposite, values, [-1], True)
        result = of.call(reduce, of.call(_aten.where.self, goes, values, least), [-1])
        result = of.call(of_two, own, result) if of.keeps else result
        return of.call(_aten.where.self, some, result, own)
    dtype = values.meta["val"].dtype
    neutral = of.constant("neutral", torch.tensor(float(of.how == "prod"), dtype=dtype))
    values = of.call(_aten.where.self, goes, values, neutral)
    if of.how == "prod":
        result, joins = product_of(of.node, values, -1), _aten.mul.Tensor
    else:
        result, joins = of.call(_aten.sum.dim_IntList, values, [-1]), _aten.add.Tensor
    if of.keeps:
        result = of.call(joins, own, result)
    if of.how == "mean":
        count = of.call(_aten.sum.dim_IntList, goes, [-1])
        count = of.call(_aten.add.Tensor, count, 1) if of.keeps else count
        divisor = of.call(_aten.clamp.default, count, 1)
        result = of.call(_aten.floor_divide.default, result, divisor)
    return result if of.keeps else of.call(_aten.where.self, some, result, own)


def _rows(of: _Reduction, value: Node) -> Node:
    """Return a value with the dimension last, and all others as one."""
    turned = of.call(_aten.transpose.int, value, of.dim, -1)
    shape = turned.meta["val"].shape
    return of.call(_aten.reshape.default, turned, [math.prod(shape[:-1]), shape[-1]])


def _cut(of: _Reduction, value: Node, shape: Sequence[int]) -> Node:
    for dim, size in enumerate(shape):
        if size < value.meta["val"].shape[dim]:
            value = of.call(_aten.slice.Tensor, value, dim, 0, size)
    return value


def _in_place(of: _Reduction, value: Node, whole: Node) -> Node:
    """Return a value extended by the rest of the whole in each dimension."""
    shape = list(whole.meta["val"].shape)
    for dim in reversed(range(len(shape))):
        size = value.meta["val"].shape[dim]
        if size == shape[dim]:
            continue
        rest = _cut(of, whole, value.meta["val"].shape[:dim])
        rest = of.call(_aten.slice.Tensor, rest, dim, size, shape[dim])
        value = of.call(_aten.cat.default, [value, rest], dim)
    return value


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten.scatter.reduce: _scattered,
    _aten.scatter.value_reduce: _scattered,
    _aten.scatter_reduce.two: _reduces,
    _aten.index_reduce.default: _by_rows,
}
