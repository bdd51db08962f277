# SPDX-License-Identifier: Apache-2.0
"""Splits pools over three dimensions into one over the image and one over the depth; adds a batch
dimension to pools without one.

The maximum of maxima is the maximum. Averages work likewise, because every window takes the same
number of slices from each image. A divisor of their own becomes a factor after them. Leaves pools
whose indices have a reader.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import drop_dead_code
from aot.dialect.results import gives_first_only, gives_one, results_of, take
from aot.dialect.rule import argument
from aot.passes.aten.build import call

_aten = torch.ops.aten
_MAX, _AVERAGE = _aten.max_pool3d_with_indices.default, _aten.avg_pool3d.default
_TO_2D: dict[Any, Any] = {
    _MAX: _aten.max_pool2d.default,
    _AVERAGE: _aten.avg_pool2d.default,
    _aten.adaptive_max_pool3d.default: _aten.adaptive_max_pool2d.default,
    _aten._adaptive_avg_pool3d.default: _aten.adaptive_avg_pool2d.default,
}


def pools_to_2d(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many pools changed."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target in _TO_2D:
            rewrite = _split
        elif node.target in _TO_2D.values():
            rewrite = _with_batch
        else:
            continue
        if not (gives_one(node) or gives_first_only(node)):
            continue
        with module.graph.inserting_before(node):
            result = rewrite(node)
        if result is not None:
            for value in results_of(node):
                value.replace_all_uses_with(result)
            count += 1
    drop_dead_code(module.graph)
    return count


def _with_batch(node: Node) -> Node | None:
    x, *window = node.args
    assert isinstance(x, Node)
    if x.meta["val"].dim() != 3:
        return None
    batch = call(node, _aten.unsqueeze.default, x, 0)
    return call(node, _aten.squeeze.dims, _pool(node, node.target, batch, *window), [0])


def _split(node: Node) -> Node | None:
    x = node.args[0]
    assert isinstance(x, Node)
    *batch, slices, height, width = x.meta["val"].shape
    result = list((node.meta["val"] if gives_one(node) else node.meta["val"][0]).shape)
    count, channels = math.prod(batch[:-1]), batch[-1]
    image, depth, factor = _windows(node)
    target = _TO_2D[node.target]
    if image:  # slices as a batch, as for convolutions: channels stay adjacent
        x = call(node, _aten.reshape.default, x, [count, channels, slices, height, width])
        x = call(node, _aten.permute.default, x, [0, 2, 1, 3, 4])
        x = call(node, _aten.reshape.default, x, [count * slices, channels, height, width])
        x = _pool(node, target, x, *image)
        x = call(node, _aten.reshape.default, x, [count, slices, channels, *result[-2:]])
        x = call(node, _aten.permute.default, x, [0, 2, 1, 3, 4])
    if depth:
        x = call(node, _aten.reshape.default, x, [count, channels, slices, math.prod(result[-2:])])
        x = _pool(node, target, x, *depth)
    if factor != 1.0:
        x = call(node, _aten.mul.Tensor, x, factor)
    return call(node, _aten.reshape.default, x, result)


def _windows(node: Node) -> tuple[list[Any], list[Any], float]:
    """Return the arguments of the image's pool and of the depth's, and the result's factor.

    Arguments are empty for a pool without effect.
    """
    x = node.args[0]
    assert isinstance(x, Node)
    if node.target not in (_MAX, _AVERAGE):
        before = x.meta["val"].shape[-3:]
        after = list(results_of(node)[0].meta["val"].shape[-3:])
        image, depth = after[1:], [after[0], math.prod(after[1:])]
        return [image] * (after[1:] != list(before[1:])), [depth] * (after[0] != before[0]), 1.0
    kernel = _triple(argument(node, "kernel_size"))
    stride = _triple(argument(node, "stride") or kernel)
    padding = _triple(argument(node, "padding"))
    rounds_up, factor = argument(node, "ceil_mode"), 1.0
    if node.target is _MAX:
        dilation = _triple(argument(node, "dilation"))
        of_image, of_depth = [dilation[1:], rounds_up], [[dilation[0], 1], rounds_up]
    else:
        counts, divisor = argument(node, "count_include_pad"), argument(node, "divisor_override")
        area = math.prod(kernel[1:])
        factor = area * kernel[0] / divisor if divisor else 1.0
        of_image = [rounds_up, counts, divisor and area]
        of_depth = [rounds_up, counts, divisor and kernel[0]]
    image = [kernel[1:], stride[1:], padding[1:]]
    depth = [[kernel[0], 1], [stride[0], 1], [padding[0], 0]]
    nothing = [[1, 1], [1, 1], [0, 0]]
    return (
        [*image, *of_image] if image != nothing else [],
        [*depth, *of_depth] if depth != nothing else [],
        factor,
    )


def _triple(value: Any) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * 3 if len(values) == 1 else values


def _pool(node: Node, target: Any, *args: Any) -> Node:
    """Return a pool's values."""
    pool = call(node, target, *args)
    if gives_one(pool):
        return pool
    values = take(node.graph, pool, 0)
    values.meta = {**pool.meta, "val": pool.meta["val"][0]}
    return values
