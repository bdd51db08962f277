# SPDX-License-Identifier: Apache-2.0
"""Compositions of scatter_reduce and of scatter that adds: sums and counts by scatter_add, the
largest and smallest by a mask of the elements that go to each place.

Leaves products, and indices that leave out some of the input's rows or of the source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.passes.aten.build import call, constant
from aot.passes.aten.composing import Results, along
from aot.rules.rule import argument

_aten = torch.ops.aten
_BEST: dict[str, tuple[Any, Any, Any]] = {
    "amax": (_aten.amax.default, _aten.amin.default, _aten.maximum.default),
    "amin": (_aten.amin.default, _aten.amax.default, _aten.minimum.default),
}
"""The reduction, the opposite one, and the op of two values."""


def _adds(module: GraphModule, node: Node) -> Results:
    x, dim = along(node)
    if argument(node, "reduce") != "add" or x.meta["val"].dtype != torch.float32:
        return {}
    index, source = argument(node, "index"), node.args[3]
    if not isinstance(source, Node):
        values = torch.full(index.meta["val"].shape, float(source))  # type: ignore[arg-type]
        source = constant(module, node, "value", values)
    sums = _summed(module, node, x, dim, index, source)
    return {0: call(node, _aten.add.Tensor, x, sums)}


def _summed(module: GraphModule, node: Node, x: Node, dim: int, index: Node, source: Node) -> Node:
    nothing = constant(module, node, "nothing", torch.zeros(x.meta["val"].shape))
    return call(node, _aten.scatter_add.default, nothing, dim, index, source)


def _reduces(module: GraphModule, node: Node) -> Results:
    x, dim = along(node)
    index, source, how = (argument(node, name) for name in ("index", "src", "reduce"))
    keeps = bool(argument(node, "include_self"))
    if x.meta["val"].dtype != torch.float32:
        return {}
    if how in _BEST:
        return _best(module, node, *_BEST[how])
    if how not in ("sum", "mean"):
        return {}
    total = _summed(module, node, x, dim, index, source)
    if keeps:
        total = call(node, _aten.add.Tensor, x, total)
    if keeps and how == "sum":
        return {0: total}
    known, shape = tensor_constant(module, index), x.meta["val"].shape
    if known is not None:
        counted = torch.zeros(shape).scatter_add(dim, known, torch.ones(known.shape))
        count = constant(module, node, "count", counted + keeps)
    else:
        ones = constant(module, node, "ones", torch.ones(index.meta["val"].shape))
        count = _summed(module, node, x, dim, index, ones)
        if keeps:
            count = call(
                node, _aten.add.Tensor, count, constant(module, node, "own", torch.ones(()))
            )
    if how == "mean":
        divisor = call(node, _aten.clamp.default, count, 1.0)
        total = call(node, _aten.div.Tensor, total, divisor)
    if keeps:
        return {0: total}
    return {0: call(node, _aten.where.self, call(node, _aten.gt.Scalar, count, 0.5), total, x)}


def _best(module: GraphModule, node: Node, reduce: Any, opposite: Any, of_two: Any) -> Results:
    """The source's elements beside each place; those for other places lose against all."""
    x, dim = along(node)
    index, source = argument(node, "index"), argument(node, "src")
    shapes = [list(n.meta["val"].shape) for n in (x, index, source)]
    count = shapes[0].pop(dim)
    if shapes[1] != shapes[2]:
        return {}
    shapes[1].pop(dim)
    if shapes[0] != shapes[1]:
        return {}

    def rows(value: Node) -> Node:
        last = call(node, _aten.transpose.int, value, dim, -1)
        return call(node, _aten.unsqueeze.default, last, -2)

    places = constant(module, node, "places", torch.arange(count)[:, None])
    goes = call(node, _aten.eq.Tensor, rows(index), places)
    values = rows(source)
    least = call(node, opposite, values, [-1], True)
    best = call(node, reduce, call(node, _aten.where.self, goes, values, least), [-1])
    some = call(node, _aten.any.dim, goes, -1)
    best, some = (call(node, _aten.transpose.int, n, dim, -1) for n in (best, some))
    if argument(node, "include_self"):
        best = call(node, of_two, x, best)
    return {0: call(node, _aten.where.self, some, best, x)}


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten.scatter.reduce: _adds,
    _aten.scatter.value_reduce: _adds,
    _aten.scatter_reduce.two: _reduces,
}
