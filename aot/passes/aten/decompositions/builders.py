# SPDX-License-Identifier: Apache-2.0
"""Helpers for decompositions."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.results import results_of, take, taken_from
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant

_aten = torch.ops.aten

Results = dict[int, Node]
"""Replacement of each result with a reader."""


def as_type(node: Node, x: Node, dtype: torch.dtype) -> Node:
    """Return a value as another type."""
    made = node.graph.call_function(_aten._to_copy.default, (x,), {"dtype": dtype})
    made.meta = {**node.meta, "val": x.meta["val"].to(dtype)}
    return made


def source_of(node: Node) -> Node:
    """Return the first tensor argument of an op. Numbers may precede it, as in 2 ** x."""
    return next(argument for argument in node.args if isinstance(argument, Node))


def along(node: Node) -> tuple[Node, int]:
    """Return the first argument, and the dimension of it that an op works along."""
    x = source_of(node)
    return x, int(argument(node, "dim")) % x.meta["val"].dim()


def alike(node: Node) -> tuple[Node, Node]:
    """Return two operands in the result's shape."""
    shape = list(node.meta["val"].shape)
    operands: Any = node.args[:2]
    a, b = (
        n if list(n.meta["val"].shape) == shape else call(node, _aten.expand.default, n, shape)
        for n in operands
    )
    return a, b


def read_results(node: Node) -> list[int]:
    """Return the indices of the results with a reader."""
    return [taken_from(value)[1] for value in results_of(node)]


def taken_result(node: Node, several: Node, index: int) -> Node:
    """Return a result of a call made for a node."""
    result = take(node.graph, several, index)
    result.meta = {**node.meta, "val": several.meta["val"][index]}
    return result


def product_of(node: Node, x: Node, dim: int) -> Node:
    """Return the product over a dimension, without it; each step halves the number of values."""
    dim = dim % x.meta["val"].dim()
    while (count := x.meta["val"].shape[dim]) > 1:
        half = count // 2
        first, second, rest = (
            call(node, _aten.slice.Tensor, x, dim, start, end)
            for start, end in ((0, half), (half, 2 * half), (2 * half, count))
        )
        x = call(node, _aten.mul.Tensor, first, second)
        if count % 2:
            x = call(node, _aten.cat.default, [x, rest], dim)
    return call(node, _aten.squeeze.dims, x, [dim])


def times_matrix(module: GraphModule, node: Node, x: Node, dim: int, matrix: torch.Tensor) -> Node:
    """Return the product of a dimension with a matrix [before, after]."""
    # Sines of full turns are rounding errors only.
    weight = constant(
        module, node, "matrix", torch.where(matrix.abs() < 1e-12, 0, matrix).T.float()
    )
    x = call(node, _aten.transpose.int, x, dim, -1)
    return call(node, _aten.transpose.int, call(node, _aten.linear.default, x, weight), dim, -1)
