# SPDX-License-Identifier: Apache-2.0
"""Ops that others say: a sort is all of topk, a median one of it; a norm of any order powers and a
sum; a product of many values products of two; a rounded quotient a quotient and its rounding; an
assignment where a mask says a choice; distances norms of differences; bags of embeddings sums of
them.

Leaves what has other forms of its own, and bags of different sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.results import gives_first_only, results_of, take, taken_from
from aot.passes.aten.build import call
from aot.rules.function import is_mask, is_scalar
from aot.rules.rule import argument, reduction

_aten = torch.ops.aten
_ROUNDED: dict[str, Any] = {"floor": _aten.floor.default, "trunc": _aten.trunc.default}
_WHOLE_NORMS = (1.0, 2.0, math.inf, -math.inf)
_BAGS: dict[int, Any] = {0: _aten.sum.dim_IntList, 1: _aten.mean.dim, 2: _aten.amax.default}

Results = dict[int, Node]
"""What stands for each result of an op that somebody reads."""


def _sort(module: GraphModule, node: Node) -> Results:
    x, dim = _along(node)
    if not x.meta["val"].dim():
        return {}
    count = x.meta["val"].shape[dim]
    best = call(node, _aten.topk.default, x, count, dim, bool(argument(node, "descending")))
    return {index: _taken(node, best, index) for index in _read(node)}


def _ranked(module: GraphModule, node: Node) -> Results:
    x, dim = _along(node)
    if not x.meta["val"].dim():
        return {}
    is_median = node.target is not _aten.kthvalue.default
    rank = (x.meta["val"].shape[dim] + 1) // 2 if is_median else int(argument(node, "k"))
    best = call(node, _aten.topk.default, x, rank, dim, False)
    keeps = argument(node, "keepdim")
    results = {}
    for index in _read(node):
        last = call(node, _aten.slice.Tensor, _taken(node, best, index), dim, rank - 1, rank)
        results[index] = last if keeps else call(node, _aten.squeeze.dims, last, [dim])
    return results


def _median(module: GraphModule, node: Node) -> Results:
    x = _source(node)
    count = x.meta["val"].numel()
    if not x.meta["val"].dim():
        return {}
    flat = call(node, _aten.reshape.default, x, [count])
    best = _taken(node, call(node, _aten.topk.default, flat, (count + 1) // 2, 0, False), 0)
    return {0: call(node, _aten.select.int, best, 0, (count + 1) // 2 - 1)}


def _norm(module: GraphModule, node: Node) -> Results:
    x, order = _source(node), float(argument(node, "ord"))
    dims, keepdim = reduction(node, x.meta["val"].dim())
    if order in _WHOLE_NORMS:
        return {}
    if order == 0.0:
        x = call(node, _aten.ne.Scalar, x, 0)
        number = node.graph.call_function(_aten._to_copy.default, (x,), {"dtype": torch.float32})
        number.meta = {**node.meta, "val": x.meta["val"].float()}
        return {0: call(node, _aten.sum.dim_IntList, number, dims, keepdim)}
    powers = call(node, _aten.pow.Tensor_Scalar, call(node, _aten.abs.default, x), order)
    total = call(node, _aten.sum.dim_IntList, powers, dims, keepdim)
    return {0: call(node, _aten.pow.Tensor_Scalar, total, 1.0 / order)}


def _product(module: GraphModule, node: Node) -> Results:
    x = _source(node)
    is_whole = node.target is _aten.prod.default
    if x.meta["val"].dtype != torch.float32:
        return {}
    if is_whole or not x.meta["val"].dim():
        x = call(node, _aten.reshape.default, x, [x.meta["val"].numel()])
    dim = 0 if is_whole else int(argument(node, "dim")) % x.meta["val"].dim()
    while (count := x.meta["val"].shape[dim]) > 1:
        half = count // 2
        first, second, rest = (
            call(node, _aten.slice.Tensor, x, dim, start, end)
            for start, end in ((0, half), (half, 2 * half), (2 * half, count))
        )
        x = call(node, _aten.mul.Tensor, first, second)
        if count % 2:
            x = call(node, _aten.cat.default, [x, rest], dim)
    keeps = not is_whole and argument(node, "keepdim")
    return {0: x if keeps else call(node, _aten.squeeze.dims, x, [dim])}


def _assigned(module: GraphModule, node: Node) -> Results:
    x, value = _source(node), argument(node, "values")
    indices = argument(node, "indices")
    mask = indices[0] if len(indices) == 1 else None
    if mask is None or not is_mask(mask) or value.meta["val"].numel() != 1:
        return {}
    if argument(node, "accumulate") or value.meta["val"].dim() > x.meta["val"].dim():
        return {}
    for _ in range(x.meta["val"].dim() - mask.meta["val"].dim()):
        mask = call(node, _aten.unsqueeze.default, mask, -1)
    return {0: call(node, _aten.where.self, mask, value, x)}


def _quotient(module: GraphModule, node: Node) -> Results:
    x, y, mode = _source(node), argument(node, "other"), argument(node, "rounding_mode")
    if is_scalar(x) or is_scalar(y) or node.meta["val"].dtype != torch.float32:
        return {}  # a function of one value, or of indices
    quotient = call(node, _aten.div.Tensor, x, y)
    return {0: quotient if mode is None else call(node, _ROUNDED[mode], quotient)}


def _distances(module: GraphModule, node: Node) -> Results:
    a = call(node, _aten.unsqueeze.default, argument(node, "x1"), -2)
    b = call(node, _aten.unsqueeze.default, argument(node, "x2"), -3)
    return _of_difference(module, node, a, b, [-1])


def _distance(module: GraphModule, node: Node) -> Results:
    return _of_difference(module, node, _source(node), argument(node, "other"), None)


def _of_difference(module: GraphModule, node: Node, a: Node, b: Node, dim: Any) -> Results:
    difference = call(node, _aten.sub.Tensor, a, b)
    norm = call(node, _aten.linalg_vector_norm.default, difference, argument(node, "p"), dim)
    return _norm(module, norm) or {0: norm}


def _bag(module: GraphModule, node: Node) -> Results:
    offsets = tensor_constant(module, argument(node, "offsets"))
    table, indices = argument(node, "weight"), argument(node, "indices")
    whole = argument(node, "per_sample_weights") is None and argument(node, "padding_idx") < 0
    if offsets is None or not whole or not gives_first_only(node):
        return {}
    count = indices.meta["val"].numel()
    bags = len(offsets) - bool(argument(node, "include_last_offset"))
    size = count // bags
    if not size or not torch.equal(offsets[:bags], torch.arange(bags) * size) or count % bags:
        return {}
    rows = call(node, _aten.embedding.default, table, indices)
    rows = call(node, _aten.reshape.default, rows, [bags, size, table.meta["val"].shape[1]])
    return {0: call(node, _BAGS[int(argument(node, "mode"))], rows, [1])}


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten.sort.default: _sort,
    _aten.sort.stable: _sort,
    _aten.median.dim: _ranked,
    _aten.kthvalue.default: _ranked,
    _aten.median.default: _median,
    _aten.linalg_vector_norm.default: _norm,
    _aten.prod.default: _product,
    _aten.prod.dim_int: _product,
    _aten.index_put.default: _assigned,
    _aten.div.Tensor_mode: _quotient,
    _aten._cdist_forward.default: _distances,
    _aten.dist.default: _distance,
    _aten._embedding_bag.default: _bag,
    _aten._embedding_bag_forward_only.default: _bag,
}


def compositions(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many ops were replaced."""
    count = 0
    for node in list(module.graph.nodes):
        compose = COMPOSED.get(node.target)
        if compose is None:
            continue
        with module.graph.inserting_before(node):
            results = compose(module, node)
        for value in results_of(node) if results else ():
            value.replace_all_uses_with(results[taken_from(value)[1]])
        count += bool(results)
    module.graph.eliminate_dead_code()
    return count


def _source(node: Node) -> Node:
    (x, *_) = node.args
    assert isinstance(x, Node)
    return x


def _along(node: Node) -> tuple[Node, int]:
    x = _source(node)
    return x, int(argument(node, "dim")) % max(x.meta["val"].dim(), 1)


def _read(node: Node) -> list[int]:
    """Which results somebody takes."""
    return [taken_from(value)[1] for value in results_of(node)]


def _taken(node: Node, several: Node, index: int) -> Node:
    result = take(node.graph, several, index)
    result.meta = {**node.meta, "val": several.meta["val"][index]}
    return result
