# SPDX-License-Identifier: Apache-2.0
"""Convolutions and linear layers whose weights or bias the model computes: products of the weights
with the windows that they lie over, and a sum; such as a filter that is found in the same image.
Norms with a computed weight or bias, which become a product and a sum; PReLU with a computed slope.

Leaves transposed convolutions with computed weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.passes.aten.build import call, constant
from aot.passes.aten.composing import Results, source_of
from aot.rules.rule import argument

_aten = torch.ops.aten


def _is_computed(module: GraphModule, value: object) -> bool:
    return isinstance(value, Node) and tensor_constant(module, value) is None


def _convolution(module: GraphModule, node: Node) -> Results:
    weight, bias = argument(node, "weight"), argument(node, "bias")
    rank = node.meta["val"].dim()
    if _is_computed(module, weight):
        if argument(node, "transposed"):
            return {}
        result = _by_windows(module, node, weight)
    elif _is_computed(module, bias):
        result = call(node, node.target, node.args[0], weight, None, *node.args[3:])
    else:
        return {}
    if bias is not None:
        each = call(node, _aten.reshape.default, bias, [-1, *[1] * (rank - 2)])
        result = call(node, _aten.add.Tensor, result, each)
    return {0: result}


def _by_windows(module: GraphModule, node: Node, weight: Node) -> Node:
    """The windows' values in columns, one for each pixel of the output, and the product."""
    x, groups = source_of(node), int(argument(node, "groups"))
    padding = [p for p in reversed(argument(node, "padding")) for _ in range(2)]
    if any(padding):
        x = call(node, _aten.constant_pad_nd.default, x, padding, 0.0)
    batch, channels, *sizes = x.meta["val"].shape
    outputs, _, *kernel = weight.meta["val"].shape
    result = list(node.meta["val"].shape)
    places = torch.zeros([1] * 2 * len(sizes), dtype=torch.int64)  # [*kernel, *pixels]
    for axis, size in enumerate(sizes):
        taps = torch.arange(kernel[axis]) * argument(node, "dilation")[axis]
        starts = torch.arange(result[2 + axis]) * argument(node, "stride")[axis]
        shape = [1] * places.dim()
        shape[axis], shape[len(sizes) + axis] = len(taps), len(starts)
        places = places * size + (taps[:, None] + starts).reshape(shape)
    index = constant(module, node, "places", places.flatten())
    flat = call(node, _aten.reshape.default, x, [batch, channels, -1])
    columns = call(node, _aten.index_select.default, flat, -1, index)
    depth = channels // groups * math.prod(kernel)
    shape = [batch, groups, depth, math.prod(result[2:])]
    columns = call(node, _aten.reshape.default, columns, shape)
    rows = call(node, _aten.reshape.default, weight, [1, groups, outputs // groups, depth])
    products = call(node, _aten.matmul.default, rows, columns)
    return call(node, _aten.reshape.default, products, result)


def _linear(module: GraphModule, node: Node) -> Results:
    weight, bias = argument(node, "weight"), argument(node, "bias")
    if _is_computed(module, weight) or not _is_computed(module, bias):
        return {}
    product = call(node, _aten.linear.default, source_of(node), weight)
    return {0: call(node, _aten.add.Tensor, product, bias)}


def _norm(module: GraphModule, node: Node) -> Results:
    """A norm, times its weight and plus its bias: behind it where one of them is computed."""
    weight, bias = argument(node, "weight"), argument(node, "bias")
    if not _is_computed(module, weight) and not _is_computed(module, bias):
        return {}
    bare = [None if isinstance(value, Node) else value for value in node.args[1:]]
    kept: dict[str, Any] = {
        name: value for name, value in node.kwargs.items() if not isinstance(value, Node)
    }
    target: Any = node.target
    result = node.graph.call_function(target, (source_of(node), *bare), kept)
    result.meta = dict(node.meta)
    for op, value in ((_aten.mul.Tensor, weight), (_aten.add.Tensor, bias)):
        if value is None:
            continue
        if target is _aten.group_norm.default:
            behind = [1] * (node.meta["val"].dim() - 2)
            value = call(node, _aten.reshape.default, value, [-1, *behind])
        result = call(node, op, result, value)
    return {0: result}


def _leaky(module: GraphModule, node: Node) -> Results:
    """PReLU with a slope that is computed: x where it is above 0, else the product."""
    x, slope = source_of(node), node.args[1]
    if not _is_computed(module, slope) or x.meta["val"].dtype != torch.float32:
        return {}
    assert isinstance(slope, Node)
    if slope.meta["val"].dim() == 1:
        behind = [1] * max(x.meta["val"].dim() - 2, 0)
        slope = call(node, _aten.reshape.default, slope, [-1, *behind])
    lower = call(node, _aten.mul.Tensor, call(node, _aten.clamp.default, x, None, 0.0), slope)
    return {0: call(node, _aten.add.Tensor, call(node, _aten.relu.default, x), lower)}


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten.convolution.default: _convolution,
    _aten.linear.default: _linear,
    _aten.layer_norm.default: _norm,
    _aten.group_norm.default: _norm,
    _aten.prelu.default: _leaky,
    _aten._prelu_kernel.default: _leaky,
}
