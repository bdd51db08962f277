# SPDX-License-Identifier: Apache-2.0
"""Decompositions of rare ops:

- max and min of a dimension without readers of the indices -> amax and amin;
- sort -> topk(n); median -> topk + select; quantile -> topk + two selects;
- a norm of any order -> powers and a sum; a product of many values -> products of
  two;
- a rounded quotient -> a quotient and its rounding; distances -> norms of
  differences.

More are in indexed_ops.py, core_aten_patterns.py, binary_ops.py,
small_matrices.py, computed_layers.py, indexed_reductions.py, resampling.py and
sampling.py.

Leaves ops with other forms of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import drop_dead_code, tensor_constant
from aot.dialect.results import gives_first_only, results_of, taken_from
from aot.dialect.rule import argument, reduction
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions import (
    binary_ops,
    core_aten_patterns,
    indexed_ops,
    indexed_reductions,
    integer_ops,
    small_matrices,
)
from aot.passes.aten.decompositions.builders import (
    Results,
    along,
    as_type,
    product_of,
    read_results,
    source_of,
    taken_result,
)
from aot.passes.aten.layers import computed_layers
from aot.passes.aten.spatial import resampling, sampling
from aot.rules.function import is_integers, is_scalar, is_unquantized

_aten = torch.ops.aten
_ROUNDED: dict[str, Any] = {"floor": _aten.floor.default, "trunc": _aten.trunc.default}
_MOVED = (
    _aten.reshape.default,
    _aten.view.default,
    _aten.permute.default,
    _aten.transpose.int,
    _aten.unsqueeze.default,
    _aten.squeeze.dims,
)
_WHOLE_NORMS = (1.0, 2.0, math.inf, -math.inf)


def _extreme(module: GraphModule, node: Node) -> Results:
    shape = source_of(node).meta["val"].shape
    if not gives_first_only(node) or is_unquantized(source_of(node)) or not shape or 0 in shape:
        return {}
    x, dim = along(node)
    op = _aten.amax.default if node.target is _aten.max.dim else _aten.amin.default
    return {0: call(node, op, x, [dim], bool(argument(node, "keepdim")))}


def _sort(module: GraphModule, node: Node) -> Results:
    x, dim = along(node)
    count = x.meta["val"].shape[dim]
    best = call(node, _aten.topk.default, x, count, dim, bool(argument(node, "descending")))
    return {index: taken_result(node, best, index) for index in read_results(node)}


def _ranked(module: GraphModule, node: Node) -> Results:
    x, dim = along(node)
    is_median = node.target is not _aten.kthvalue.default
    rank = (x.meta["val"].shape[dim] + 1) // 2 if is_median else int(argument(node, "k"))
    best = call(node, _aten.topk.default, x, rank, dim, False)
    keeps = argument(node, "keepdim")
    results = {}
    for index in read_results(node):
        last = call(node, _aten.slice.Tensor, taken_result(node, best, index), dim, rank - 1, rank)
        results[index] = last if keeps else call(node, _aten.squeeze.dims, last, [dim])
    return results


def _median(module: GraphModule, node: Node) -> Results:
    x = source_of(node)
    count = x.meta["val"].numel()
    flat = call(node, _aten.reshape.default, x, [count])
    best = taken_result(node, call(node, _aten.topk.default, flat, (count + 1) // 2, 0, False), 0)
    return {0: call(node, _aten.select.int, best, 0, (count + 1) // 2 - 1)}


def _nan_in_order(module: GraphModule, node: Node) -> Results:
    """Replace a quantile's NaN test over sorted values by False: no value is NaN here."""
    values = source_of(node)
    while values.target in _MOVED:
        values = source_of(values)
    if taken_from(values)[0].target is not _aten.topk.default:
        return {}
    nowhere = torch.zeros(node.meta["val"].shape, dtype=torch.bool)
    return {0: constant(module, node, "nowhere", nowhere)}


def _not_nan(module: GraphModule, node: Node) -> Results:
    """Replace where(isnan(x), nan, value), as in xlogy, by value: no value on a device is NaN."""
    nan = tensor_constant(module, argument(node, "self"))
    value: Node = argument(node, "other")
    if nan is None or not bool(nan.isnan().all()):
        return {}
    mask = source_of(node)
    nowhere = tensor_constant(module, mask)
    if mask.target is not _aten.isnan.default and (nowhere is None or bool(nowhere.any())):
        return {}
    return {0: value} if value.meta["val"].shape == node.meta["val"].shape else {}


def _norm(module: GraphModule, node: Node) -> Results:
    x, order = source_of(node), float(argument(node, "ord"))
    dims, keepdim = reduction(node, x.meta["val"].dim())
    if order in _WHOLE_NORMS:
        return {}
    if order == 0.0:
        x = call(node, _aten.ne.Scalar, x, 0)
        number = as_type(node, x, torch.float32)
        return {0: call(node, _aten.sum.dim_IntList, number, dims, keepdim)}
    powers = call(node, _aten.pow.Tensor_Scalar, call(node, _aten.abs.default, x), order)
    total = call(node, _aten.sum.dim_IntList, powers, dims, keepdim)
    return {0: call(node, _aten.pow.Tensor_Scalar, total, 1.0 / order)}


def _product(module: GraphModule, node: Node) -> Results:
    x = source_of(node)
    is_whole, dtype = node.target is _aten.prod.default, node.meta["val"].dtype
    if is_integers(x) and dtype != x.meta["val"].dtype:
        x = as_type(node, x, dtype)
    if x.meta["val"].dtype != torch.float32 and not is_integers(x):
        return {}
    if is_whole:
        x = call(node, _aten.reshape.default, x, [x.meta["val"].numel()])
    dim = 0 if is_whole else int(argument(node, "dim")) % x.meta["val"].dim()
    product = product_of(node, x, dim)
    keeps = not is_whole and argument(node, "keepdim")
    return {0: call(node, _aten.unsqueeze.default, product, dim) if keeps else product}


def _quotient(module: GraphModule, node: Node) -> Results:
    x, y, mode = node.args[0], argument(node, "other"), argument(node, "rounding_mode")
    if is_integers(node):
        return integer_ops.cut_off(module, node)
    if is_scalar(x) or is_scalar(y) or node.meta["val"].dtype != torch.float32:
        return {}  # a function of one value
    quotient = call(node, _aten.div.Tensor, x, y)
    return {0: quotient if mode is None else call(node, _ROUNDED[mode], quotient)}


def _distances(module: GraphModule, node: Node) -> Results:
    a = call(node, _aten.unsqueeze.default, argument(node, "x1"), -2)
    b = call(node, _aten.unsqueeze.default, argument(node, "x2"), -3)
    return _of_difference(module, node, a, b, [-1])


def _distance(module: GraphModule, node: Node) -> Results:
    return _of_difference(module, node, source_of(node), argument(node, "other"), None)


def _of_difference(module: GraphModule, node: Node, a: Node, b: Node, dim: Any) -> Results:
    difference = call(node, _aten.sub.Tensor, a, b)
    norm = call(node, _aten.linalg_vector_norm.default, difference, argument(node, "p"), dim)
    return _norm(module, norm) or {0: norm}


def _leaky(module: GraphModule, node: Node) -> Results:
    """Decompose RReLU; its slope is the mean one, because the model is not trained."""
    if argument(node, "training") or read_results(node) != [0]:
        return {}
    slope = (argument(node, "lower") + argument(node, "upper")) / 2
    return {0: call(node, _aten.leaky_relu.default, source_of(node), slope)}


def _over_nothing(module: GraphModule, node: Node) -> Results:
    """Return the truth of each element for an empty list of dimensions; other reductions then use
    all.
    """
    x = source_of(node)
    if argument(node, "dim") != []:
        return {}
    return {0: x if x.meta["val"].dtype is torch.bool else call(node, _aten.ne.Scalar, x, 0)}


def _truth(module: GraphModule, node: Node) -> Results:
    """Decompose a cast of integers to bool."""
    x = source_of(node)
    if node.meta["val"].dtype is not torch.bool or not is_integers(x):
        return {}
    return {0: call(node, _aten.ne.Scalar, x, 0)}


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    **indexed_ops.COMPOSED,
    **integer_ops.COMPOSED,
    **core_aten_patterns.COMPOSED,
    **small_matrices.COMPOSED,
    **binary_ops.COMPOSED,
    **computed_layers.COMPOSED,
    **resampling.COMPOSED,
    **indexed_reductions.COMPOSED,
    **sampling.COMPOSED,
    _aten._to_copy.default: _truth,
    _aten.max.dim: _extreme,
    _aten.min.dim: _extreme,
    _aten.sort.default: _sort,
    _aten.sort.stable: _sort,
    _aten.median.dim: _ranked,
    _aten.kthvalue.default: _ranked,
    _aten.median.default: _median,
    _aten.isnan.default: _nan_in_order,
    _aten.where.self: _not_nan,
    _aten.linalg_vector_norm.default: _norm,
    _aten.any.dims: _over_nothing,
    _aten.all.dims: _over_nothing,
    _aten.prod.default: _product,
    _aten.prod.dim_int: _product,
    _aten.div.Tensor_mode: _quotient,
    _aten._cdist_forward.default: _distances,
    _aten.dist.default: _distance,
    _aten.rrelu_with_noise_functional.default: _leaky,
}


def decompose_rare_ops(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many ops were replaced."""
    count = 0
    for node in list(module.graph.nodes):
        compose = COMPOSED.get(node.target)
        if compose is None:
            continue
        with module.graph.inserting_before(node):
            results = compose(module, node)
        if not results:
            continue
        for value in results_of(node):
            value.replace_all_uses_with(results[taken_from(value)[1]])
        # This includes random ops; other passes do not find them dead.
        for value in dict.fromkeys((*results_of(node), node)):
            module.graph.erase_node(value)
        count += 1
    drop_dead_code(module.graph)
    return count
