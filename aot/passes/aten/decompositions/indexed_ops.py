# SPDX-License-Identifier: Apache-2.0
"""Decompositions of ops with indices:

- assignments and sums by indices; added values are first added to zeros;
- running sums of integers; bags of embeddings; pools with their indices;
- the interval of values between known boundaries.

Leaves selections by a mask without a fixed shape, and bags of maxima with offsets from an input.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.results import gives_first_only
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions import indexed_reductions
from aot.passes.aten.decompositions.builders import (
    Results,
    along,
    as_type,
    read_results,
    source_of,
    taken_result,
)
from aot.rules.function import is_integers, is_mask
from aot.rules.scatter import ADDS_ROWS

_aten = torch.ops.aten


_BAGS: dict[int, Any] = {0: _aten.sum.dim_IntList, 1: _aten.mean.dim, 2: _aten.amax.default}
_MEAN_BAG, _MAX_BAG = 1, 2
_MOST_BOUNDARIES = 255  # more than int8 has values between


def _assigned(module: GraphModule, node: Node) -> Results:
    x, value, indices = source_of(node), argument(node, "values"), argument(node, "indices")
    mask = indices[0] if len(indices) == 1 else None
    if mask is None or not is_mask(mask):
        return _put(module, node, x, value, indices)
    if value.meta["val"].numel() != 1:
        return {}
    if argument(node, "accumulate") or value.meta["val"].dim() > x.meta["val"].dim():
        return {}
    for _ in range(x.meta["val"].dim() - mask.meta["val"].dim()):
        mask = call(node, _aten.unsqueeze.default, mask, -1)
    return {0: call(node, _aten.where.self, mask, value, x)}


def _put(module: GraphModule, node: Node, x: Node, value: Node, indices: Any) -> Results:
    """Decompose index_put with one value per written element; added values are first added to
    zeros.
    """
    if any(n is not None and is_mask(n) for n in indices):
        return {}
    places = [None if n is None else n.meta["val"] for n in indices]
    shape = list(_aten.index.Tensor(x.meta["val"], places).shape)
    adds = bool(argument(node, "accumulate"))
    if list(value.meta["val"].shape) != shape:
        known = tensor_constant(module, value)
        if known is not None:
            value = constant(module, node, "values", known.expand(shape))
        else:
            value = call(node, _aten.expand.default, value, shape)
    elif not adds:
        return {}
    if not adds:
        return {0: call(node, _aten.index_put.default, x, indices, value)}
    if x.meta["val"].dtype != torch.float32:
        return indexed_reductions.whole_rows(module, node, indices, value)
    nothing, is_nothing = _nothing(module, node, x)
    total = call(node, ADDS_ROWS, nothing, indices, value, True)
    return {0: total if is_nothing else call(node, _aten.add.Tensor, x, total)}


def _nothing(module: GraphModule, node: Node, x: Node) -> tuple[Node, bool]:
    """Return zeros of a value's shape, and True if the value itself is these zeros."""
    known = tensor_constant(module, x)
    if known is not None and not bool(known.any()):
        return x, True
    return constant(module, node, "nothing", torch.zeros(x.meta["val"].shape)), False


def _added(module: GraphModule, node: Node) -> Results:
    x = source_of(node)
    if x.meta["val"].dtype != torch.float32:
        return indexed_reductions.whole_elements(module, node)
    nothing, is_nothing = _nothing(module, node, x)
    if is_nothing:
        return {}
    total = call(node, _aten.scatter_add.default, nothing, *node.args[1:])
    return {0: call(node, _aten.add.Tensor, x, total)}


def _filled(module: GraphModule, node: Node) -> Results:
    index, x = argument(node, "index"), source_of(node).meta["val"]
    value = torch.full(index.meta["val"].shape, argument(node, "value"), dtype=x.dtype)
    values = constant(module, node, "value", value)
    return {0: call(node, _aten.scatter.src, *node.args[:3], values)}


def _counted(module: GraphModule, node: Node) -> Results:
    """Decompose a running sum of integers: a row is repeated and masked by a triangle."""
    x, dim = along(node)
    if x.meta["val"].is_floating_point():
        return {}
    count = x.meta["val"].shape[dim]
    triangle = torch.ones(count, count, dtype=torch.int64).tril()
    before = constant(module, node, "before", triangle)
    if is_mask(x):
        x = as_type(node, x, torch.int64)
    turned = call(node, _aten.transpose.int, x, dim, -1)
    rows = call(node, _aten.reshape.default, turned, [-1, 1, count])
    total = call(node, _aten.sum.dim_IntList, call(node, _aten.mul.Tensor, rows, before), [-1])
    total = call(node, _aten.reshape.default, total, list(turned.meta["val"].shape))
    total = call(node, _aten.transpose.int, total, dim, -1)
    dtype = node.meta["val"].dtype
    return {0: total if dtype == torch.int64 else as_type(node, total, dtype)}


def _bag(module: GraphModule, node: Node) -> Results:
    if tensor_constant(module, argument(node, "offsets")) is None:
        return _given_bags(node)
    offsets = tensor_constant(module, argument(node, "offsets"))
    table, indices = argument(node, "weight"), argument(node, "indices")
    if offsets is None or not gives_first_only(node):
        return {}
    count = indices.meta["val"].numel()
    bags = len(offsets) - bool(argument(node, "include_last_offset"))
    size = count // bags
    if not size or not torch.equal(offsets[:bags], torch.arange(bags) * size) or count % bags:
        return _given_bags(node)
    rows = call(node, _aten.reshape.default, _rows(node), [bags, size, table.meta["val"].shape[1]])
    if argument(node, "padding_idx") >= 0:
        return _padded_bags(module, node, rows)
    return {0: call(node, _BAGS[int(argument(node, "mode"))], rows, [1])}


def _padded_bags(module: GraphModule, node: Node, rows: Node) -> Results:
    """Decompose bags ignoring the rows of one index; a bag without others is 0."""
    mode, table = int(argument(node, "mode")), tensor_constant(module, argument(node, "weight"))
    if table is None:
        return {}
    counts = call(node, _aten.ne.Scalar, argument(node, "indices"), argument(node, "padding_idx"))
    counts = call(node, _aten.reshape.default, counts, [*rows.meta["val"].shape[:2], 1])
    zero = constant(module, node, "zero", torch.tensor(0.0))
    if mode == _MAX_BAG:
        lowest = constant(module, node, "lowest", table.detach().min())
        best = call(
            node, _aten.amax.default, call(node, _aten.where.self, counts, rows, lowest), [1]
        )
        return {0: call(node, _aten.where.self, call(node, _aten.any.dim, counts, 1), best, zero)}
    rows = call(node, _aten.where.self, counts, rows, zero)
    total = call(node, _aten.sum.dim_IntList, rows, [1])
    if mode == _MEAN_BAG:
        number = call(node, _aten.clamp.default, call(node, _aten.sum.dim_IntList, counts, [1]), 1)
        total = call(node, _aten.div.Tensor, total, as_type(node, number, torch.float32))
    return {0: total}


def _rows(node: Node) -> Node:
    """Return the rows of all bags, times their weights if they have some."""
    rows = call(node, _aten.embedding.default, argument(node, "weight"), argument(node, "indices"))
    weights = argument(node, "per_sample_weights")
    if weights is None:
        return rows
    return call(node, _aten.mul.Tensor, rows, call(node, _aten.unsqueeze.default, weights, -1))


def _given_bags(node: Node) -> Results:
    """Decompose bags with offsets from an input: an index belongs to the bag of its position.

    Leaves a last offset: if it is not the number of indices, torch divides by another count.
    """
    table, indices, offsets = (argument(node, n) for n in ("weight", "indices", "offsets"))
    whole = argument(node, "padding_idx") < 0
    mode = int(argument(node, "mode"))
    last = bool(argument(node, "include_last_offset"))
    if not whole or last or mode == _MAX_BAG or not gives_first_only(node):
        return {}
    module = node.graph.owning_module
    assert module is not None
    starts = call(node, _aten.unsqueeze.default, offsets, -1)
    places = constant(module, node, "places", torch.arange(indices.meta["val"].numel()))
    begun = call(node, _aten.le.Tensor, starts, places)
    bag = call(node, _aten.sum.dim_IntList, begun, [0])
    bag = call(node, _aten.sub.Tensor, bag, constant(module, node, "one", torch.tensor([1])))
    rows = _rows(node)
    shape = (offsets.meta["val"].shape[0], table.meta["val"].shape[1])
    nothing = constant(module, node, "nothing", torch.zeros(shape))
    total = call(node, ADDS_ROWS, nothing, [bag], rows, True)
    if mode == _MEAN_BAG:
        numbers = constant(module, node, "numbers", torch.arange(shape[0])[:, None])
        count = call(node, _aten.sum.dim_IntList, call(node, _aten.eq.Tensor, bag, numbers), [1])
        count = as_type(node, call(node, _aten.clamp.default, count, 1), torch.float32)
        count = call(node, _aten.unsqueeze.default, count, -1)
        total = call(node, _aten.div.Tensor, total, count)
    return {0: total}


def _pool_with_places(module: GraphModule, node: Node) -> Results:
    """Decompose a max pool whose indices have a reader.

    The elements of each window are gathered; then follow their maximum and its index.
    """
    x, read = source_of(node), read_results(node)
    if 1 not in read:
        return {}
    axes = 3 if "3d" in str(node.target) else 2
    shape, result = x.meta["val"].shape, node.meta["val"][0].shape
    lead, image = shape[:-axes], shape[-axes:]
    windows = [_windows(node, k, image, result[-axes:]) for k in range(axes)]
    # [windows, elements] of the flat image, by the axes so far.
    places = torch.zeros(1, 1, dtype=torch.int64)
    for at, size in zip(windows, image, strict=True):
        places = places[:, None, :, None] * size + at[None, :, None, :]
        places = places.flatten(0, 1).flatten(1, 2)
    count, elements = places.shape
    flat = call(node, _aten.reshape.default, x, [*lead, math.prod(image)])
    index = constant(module, node, "elements", places.flatten())
    taken = call(node, _aten.index_select.default, flat, -1, index)
    taken = call(node, _aten.reshape.default, taken, [*lead, count, elements])
    best = call(node, _aten.max.dim, taken, -1)
    first = constant(module, node, "first", torch.arange(count) * elements)
    element = call(node, _aten.add.Tensor, taken_result(node, best, 1), first)
    table = constant(module, node, "places", places.flatten())
    place = call(node, _aten.index.Tensor, table, [element])
    results = {0: taken_result(node, best, 0), 1: place}
    return {i: call(node, _aten.reshape.default, results[i], list(result)) for i in read}


def _windows(node: Node, axis: int, image: torch.Size, result: torch.Size) -> torch.Tensor:
    """Return the indices [windows, elements] that an axis's windows read.

    A shorter window repeats its first index; this does not change the maximum.
    """
    size, count = image[axis], result[axis]
    if "adaptive" in str(node.target):
        parts = [torch.arange(k * size // count, -(-(k + 1) * size // count)) for k in range(count)]
    else:
        kernel, stride, padding, dilation = (
            values * len(image) if len(values) == 1 else values
            for name in ("kernel_size", "stride", "padding", "dilation")
            for values in [_integers(argument(node, name))]
        )
        steps = stride or kernel
        parts = []
        for k in range(count):
            start = k * steps[axis] - padding[axis]
            part = start + torch.arange(kernel[axis]) * dilation[axis]
            parts.append(part[(part >= 0) & (part < size)])
    longest = max(map(len, parts))
    return torch.stack([torch.cat([p, p[:1].expand(longest - len(p))]) for p in parts])


def _integers(value: Any) -> list[int]:
    return [value] if isinstance(value, int) else list(value or ())


def _between(module: GraphModule, node: Node) -> Results:
    """Decompose bucketize into the number of boundaries below: a pointwise function."""
    x, bounds = argument(node, "self"), tensor_constant(module, argument(node, "boundaries"))
    return _below(node, x, bounds, bool(argument(node, "right")))


def _found(module: GraphModule, node: Node) -> Results:
    """Decompose searchsorted likewise."""
    x, bounds = argument(node, "self"), tensor_constant(module, argument(node, "sorted_sequence"))
    if argument(node, "sorter") is not None:
        return {}
    return _below(
        node, x, bounds, bool(argument(node, "right")) or argument(node, "side") == "right"
    )


def _below(node: Node, x: Node, bounds: torch.Tensor | None, with_equal: bool) -> Results:
    if bounds is None or bounds.dim() != 1 or not 0 < bounds.numel() <= _MOST_BOUNDARIES:
        return {}
    if is_integers(x) and bool(bounds.isfinite().all()):
        bounds = (bounds.ceil() if with_equal else bounds.floor()).long()
    elif x.meta["val"].dtype != torch.float32:
        return {}
    compare = _aten.ge.Scalar if with_equal else _aten.gt.Scalar
    dtype = node.meta["val"].dtype
    parts = [as_type(node, call(node, compare, x, b), dtype) for b in bounds.tolist()]
    total = parts[0]
    for part in parts[1:]:
        total = call(node, _aten.add.Tensor, total, part)
    return {0: total}


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten.index_put.default: _assigned,
    _aten.scatter_add.default: _added,
    _aten.scatter.value: _filled,
    _aten.cumsum.default: _counted,
    _aten.bucketize.Tensor: _between,
    _aten.searchsorted.Tensor: _found,
    _aten._embedding_bag.default: _bag,
    _aten._embedding_bag_forward_only.default: _bag,
    **dict.fromkeys(
        (
            _aten.max_pool2d_with_indices.default,
            _aten.max_pool3d_with_indices.default,
            _aten.adaptive_max_pool2d.default,
            _aten.adaptive_max_pool3d.default,
        ),
        _pool_with_places,
    ),
}
