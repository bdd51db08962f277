# SPDX-License-Identifier: Apache-2.0
"""Makes a 3d convolution a 2d one over every slice of the depth: a window's slices become channels,
and the slices of the result become a batch.

There is no copy if windows, or the input, are one slice deep. There is none either if they are one
pixel wide and high: those are 2d windows over the depth and all pixels of a slice. Other
convolutions copy every slice once for each window reading it.

A transposed one gives each slice's results of a window as separate channels. If windows do not
overlap along the depth, or the input is one slice deep, the channels become slices. Otherwise they
are added up, and those in the padding are left out.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.rules.scatter import ADDS_ROWS

_aten = torch.ops.aten
_CONV = _aten.convolution.default


def three_to_two_dimensions(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many convolutions changed."""
    nodes = list(module.graph.nodes)
    return sum(
        _spread_depth(module, node)
        if argument(node, "transposed")
        else _flatten_depth(module, node)
        for node in nodes
        if node.target is _CONV
    )


def _arguments(node: Node) -> tuple[Node, Any, list[int], list[int], list[int], list[int], Any]:
    """Return input, bias, stride, padding, dilation, output padding and groups.

    A single amount, as for padding="valid", applies to all axes.
    """
    arguments: Any = node.args
    x, _, bias, stride, padding, dilation, _, more, groups = arguments
    by_axis = (list(a) * 3 if len(a) == 1 else list(a) for a in (stride, padding, dilation, more))
    return x, bias, *by_axis, groups


def _flatten_depth(module: GraphModule, node: Node) -> bool:
    weight = tensor_constant(module, argument(node, "weight"))
    if node.meta["val"].dim() != 5 or weight is None:
        return False
    x, bias, stride, padding, dilation, _, groups = _arguments(node)
    value, result = x.meta["val"], node.meta["val"]
    n, channels, depth = value.shape[:3]
    outputs, slices = result.shape[1:3]

    # [slices of the result, taps]: slices of the input, some of them possibly in the padding
    first = torch.arange(slices)[:, None] * stride[0] - padding[0]
    taken = first + torch.arange(weight.shape[2]) * dilation[0]
    inside = (taken >= 0) & (taken < depth)
    used = inside.any(0).nonzero().flatten()
    if not len(used):
        return False
    taken = taken[:, used]
    before, behind = max(-int(taken.min()), 0), max(int(taken.max()) + 1 - depth, 0)
    places = (taken + before).flatten()

    image, taps = value.shape[3:], len(used)
    window = [list(amounts[1:]) for amounts in (stride, padding, dilation)]
    if taps > 1 and (*weight.shape[3:], *window[0]) == (1, 1, 1, 1) and not any(window[1]):
        _join_pixels(module, node, weight.flatten(3))
        return True
    with module.graph.inserting_before(node):
        if before or behind:
            x = call(node, _aten.constant_pad_nd.default, x, [0, 0, 0, 0, before, behind])
        if not torch.equal(places, torch.arange(before + depth + behind)):
            index = constant(module, node, "slices", places)
            x = call(node, _aten.index_select.default, x, 2, index)
        x = call(node, _aten.reshape.default, x, [n, channels, slices, taps, *image])
        x = call(node, _aten.permute.default, x, [0, 2, 1, 3, 4, 5])
        x = call(node, _aten.reshape.default, x, [n * slices, channels * taps, *image])
        flat = constant(module, node, "weight_2d", weight[:, :, used].flatten(1, 2))
        x = call(node, _CONV, x, flat, bias, *window, False, [0, 0], groups)
        x = call(node, _aten.reshape.default, x, [n, slices, outputs, *result.shape[3:]])
        x = call(node, _aten.permute.default, x, [0, 2, 1, 3, 4])
    node.replace_all_uses_with(x)
    module.graph.erase_node(node)
    return True


def _join_pixels(module: GraphModule, node: Node, weight: torch.Tensor) -> None:
    """Write a convolution along the depth as one over images of [depth, pixels]."""
    x, bias, stride, padding, dilation, _, groups = _arguments(node)
    with module.graph.inserting_before(node):
        flat = constant(module, node, "weight_2d", weight)
        x = call(node, _aten.reshape.default, x, [*x.meta["val"].shape[:3], -1])
        window = [stride[0], 1], [padding[0], 0], [dilation[0], 1]
        x = call(node, _CONV, x, flat, bias, *window, False, [0, 0], groups)
        x = call(node, _aten.reshape.default, x, list(node.meta["val"].shape))
    node.replace_all_uses_with(x)
    module.graph.erase_node(node)


def _spread_depth(module: GraphModule, node: Node) -> bool:
    weight = tensor_constant(module, argument(node, "weight"))
    bias = tensor_constant(module, argument(node, "bias"))
    if node.meta["val"].dim() != 5 or weight is None:
        return False
    x, _, stride, padding, dilation, more, groups = _arguments(node)
    n, channels, depth, *image = x.meta["val"].shape
    result, taps = node.meta["val"].shape, weight.shape[2]
    apart = depth == 1 or stride[0] == taps
    overlaps = padding[0] or more[0] or not apart or (dilation[0] > 1 < taps)
    outputs = result[1]
    with module.graph.inserting_before(node):
        x = call(node, _aten.permute.default, x, [0, 2, 1, 3, 4])
        x = call(node, _aten.reshape.default, x, [n * depth, channels, *image])
        flat = constant(module, node, "weight_2d", weight.flatten(1, 2))
        repeated = None
        if bias is not None and not overlaps:
            repeated = constant(module, node, "bias_2d", bias.repeat_interleave(taps))
        window = [list(amounts[1:]) for amounts in (stride, padding, dilation)]
        x = call(node, _CONV, x, flat, repeated, *window, True, list(more[1:]), groups)
        x = call(node, _aten.reshape.default, x, [n, depth, outputs, taps, *result[3:]])
        if overlaps:
            first = torch.arange(depth)[:, None] * stride[0] - padding[0]
            x = _added(module, node, x, first + torch.arange(taps) * dilation[0])
            if bias is not None:
                summand = constant(module, node, "bias_3d", bias.reshape(-1, 1, 1, 1))
                x = call(node, _aten.add.Tensor, x, summand)
        else:
            x = call(node, _aten.permute.default, x, [0, 2, 1, 3, 4, 5])
            x = call(node, _aten.reshape.default, x, list(result))
    node.replace_all_uses_with(x)
    module.graph.erase_node(node)
    return True


def _added(module: GraphModule, node: Node, x: Node, slices: torch.Tensor) -> Node:
    """Return x [n, depth, outputs, taps, h, w] as [n, outputs, depth of the result, h, w].

    It is the sum over the contributions to each slice [depth, taps].
    """
    n, outputs, depth = node.meta["val"].shape[:3]
    inside = ((slices >= 0) & (slices < depth)).flatten()
    x = call(node, _aten.permute.default, x, [0, 2, 1, 3, 4, 5])
    shape = x.meta["val"].shape
    x = call(node, _aten.reshape.default, x, [n, outputs, -1, *shape[4:]])
    if not bool(inside.all()):
        kept = constant(module, node, "kept", inside.nonzero().flatten())
        x = call(node, _aten.index_select.default, x, 2, kept)
    to = constant(module, node, "to", slices.flatten()[inside])
    nothing = constant(module, node, "nothing", torch.zeros(node.meta["val"].shape))
    return call(node, ADDS_ROWS, nothing, [None, None, to], x, True)
