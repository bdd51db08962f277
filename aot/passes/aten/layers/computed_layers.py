# SPDX-License-Identifier: Apache-2.0
"""Layers with computed parameters.

- Convolutions and linear layers with computed weights or bias: products of the
  weights with their patches, and a sum. An example is a filter found in the same
  image.
- Norms with a computed weight or bias: a product and a sum. Computed statistics are
  supported as well.
- PReLU with a computed slope.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions import integer_ops
from aot.passes.aten.decompositions.builders import Results, read_results, source_of, taken_result
from aot.rules.function import is_integers

_aten = torch.ops.aten


def _is_computed(module: GraphModule, value: object) -> bool:
    return isinstance(value, Node) and tensor_constant(module, value) is None


def _convolution(module: GraphModule, node: Node) -> Results:
    weight, bias = argument(node, "weight"), argument(node, "bias")
    if _is_computed(module, weight):
        result = _by_windows(module, node, weight)
    elif _is_computed(module, bias):
        result = call(node, node.target, node.args[0], weight, None, *node.args[3:])
    else:
        return {}
    return {0: result if bias is None else _by_channel(node, _aten.add.Tensor, result, bias)}


def _by_channel(node: Node, op: Any, x: Node, value: Node) -> Node:
    """Return an op of a value [N, C, ...] and one of each channel."""
    behind = [1] * (x.meta["val"].dim() - 2)
    return call(node, op, x, call(node, _aten.reshape.default, value, [-1, *behind]))


def _by_windows(module: GraphModule, node: Node, weight: Node) -> Node:
    """Return the windows' values in columns, one for each pixel of the output, and the product."""
    x, groups = source_of(node), int(argument(node, "groups"))
    batch, channels, *sizes = x.meta["val"].shape
    result = list(node.meta["val"].shape)
    outputs, kernel = result[1], weight.meta["val"].shape[2:]
    places = torch.zeros([1] * 2 * len(sizes), dtype=torch.int64)  # [*kernel, *pixels]
    outside = places.bool()
    for axis, size in enumerate(sizes):
        at = _taps(node, axis, kernel[axis], result[2 + axis])
        shape = [1] * places.dim()
        shape[axis], shape[len(sizes) + axis] = at.shape
        at = at.reshape(shape)
        outside = outside | (at < 0) | (at >= size)
        places = places * size + at
    flat = call(node, _aten.reshape.default, x, [batch, channels, -1])
    if bool(outside.any()):
        flat = call(node, _aten.constant_pad_nd.default, flat, [0, 1], 0.0)
        places = torch.where(outside, math.prod(sizes), places)
    index = constant(module, node, "places", places.flatten())
    columns = call(node, _aten.index_select.default, flat, -1, index)
    depth = channels // groups * math.prod(kernel)
    shape = [batch, groups, depth, math.prod(result[2:])]
    columns = call(node, _aten.reshape.default, columns, shape)
    if argument(node, "transposed"):
        shape = [groups, channels // groups, outputs // groups, math.prod(kernel)]
        weight = call(node, _aten.reshape.default, weight, shape)
        weight = call(node, _aten.transpose.int, weight, 1, 2)
    rows = call(node, _aten.reshape.default, weight, [1, groups, outputs // groups, depth])
    products = call(node, _aten.matmul.default, rows, columns)
    return call(node, _aten.reshape.default, products, result)


def _taps(node: Node, axis: int, taps: int, count: int) -> torch.Tensor:
    """Return the indices [taps, pixels] that an axis's windows read; those outside are below 0."""
    stride, padding, dilation = (
        int(argument(node, name)[axis]) for name in ("stride", "padding", "dilation")
    )
    offsets = torch.arange(taps)[:, None] * dilation
    if not argument(node, "transposed"):
        return torch.arange(count) * stride + offsets - padding
    at = torch.arange(count) + padding - offsets
    return torch.where(at % stride == 0, at // stride, -1)


def _linear(module: GraphModule, node: Node) -> Results:
    if is_integers(node):
        return integer_ops.matrix_product(module, node)
    weight, bias = argument(node, "weight"), argument(node, "bias")
    if _is_computed(module, weight) or not _is_computed(module, bias):
        return {}
    product = call(node, _aten.linear.default, source_of(node), weight)
    return {0: call(node, _aten.add.Tensor, product, bias)}


def _norm(module: GraphModule, node: Node) -> Results:
    """Decompose a norm, times its weight and plus its bias; computed ones follow as
    separate ops.
    """
    weight, bias = argument(node, "weight"), argument(node, "bias")
    if not _is_computed(module, weight) and not _is_computed(module, bias):
        return {}
    arguments = [_without_affine(node, entry.name) for entry in node.target._schema.arguments]  # type: ignore[union-attr]
    result = call(node, node.target, *arguments)
    if isinstance(result.meta["val"], tuple):
        result = taken_result(node, result, 0)
    return {0: _affine(node, result, weight, bias)}


def _without_affine(node: Node, name: str) -> Any:
    return None if name in ("weight", "bias") else argument(node, name)


def _affine(node: Node, x: Node, weight: Node | None, bias: Node | None) -> Node:
    for op, value in ((_aten.mul.Tensor, weight), (_aten.add.Tensor, bias)):
        if value is None:
            continue
        by_channel = node.target is not _aten.layer_norm.default
        x = _by_channel(node, op, x, value) if by_channel else call(node, op, x, value)
    return x


def _batch_norm(module: GraphModule, node: Node) -> Results:
    """Decompose a batch norm likewise, also with computed statistics."""
    if read_results(node) != [0]:
        return {}
    statistics = [argument(node, f"running_{name}") for name in ("mean", "var")]
    if not any(_is_computed(module, value) for value in statistics):
        return _norm(module, node)
    mean, variance = statistics
    x = _by_channel(node, _aten.sub.Tensor, source_of(node), mean)
    variance = call(node, _aten.add.Tensor, variance, argument(node, "eps"))
    x = _by_channel(node, _aten.mul.Tensor, x, call(node, _aten.rsqrt.default, variance))
    return {0: _affine(node, x, argument(node, "weight"), argument(node, "bias"))}


def _leaky(module: GraphModule, node: Node) -> Results:
    """Decompose PReLU with a computed slope: x if it is above 0, else the product."""
    x, slope = source_of(node), node.args[1]
    if not _is_computed(module, slope) or x.meta["val"].dtype != torch.float32:
        return {}
    assert isinstance(slope, Node)
    if slope.meta["val"].dim() == 1:
        rank = x.meta["val"].dim()
        shape = [-1, *[1] * max(rank - 2, 0)] if rank else []
        slope = call(node, _aten.reshape.default, slope, shape)
    lower = call(node, _aten.mul.Tensor, call(node, _aten.clamp.default, x, None, 0.0), slope)
    return {0: call(node, _aten.add.Tensor, call(node, _aten.relu.default, x), lower)}


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten.convolution.default: _convolution,
    _aten.linear.default: _linear,
    _aten.layer_norm.default: _norm,
    _aten.group_norm.default: _norm,
    _aten._native_batch_norm_legit.no_stats: _norm,
    _aten._native_batch_norm_legit_no_training.default: _batch_norm,
    _aten.prelu.default: _leaky,
    _aten._prelu_kernel.default: _leaky,
}
