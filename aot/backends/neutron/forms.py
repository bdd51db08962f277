# SPDX-License-Identifier: Apache-2.0
"""Rewrites of a region's ops to the forms of NXP's converter, with the same bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    NHWC,
    Builder,
    arguments,
    dialect_op,
    edge_of,
    shape_of,
    tensor_constant,
    with_layout,
)
from kernels.cat.op import cat
from kernels.conv2d.op import conv2d
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_slice import slice as slice_op

_BY_CHANNEL = ("weight", "bias", "multiplier", "shift")


def formed(region: GraphModule) -> Mapping[str, str]:
    """Rewrite a region in place; return the original op of each node, by name.

    - A linear layer with one scale per channel becomes a convolution of one pixel:
      TFLite's FULLY_CONNECTED has one scale there.
    - A convolution of groups becomes one for each, on a slice of the channels.
    - A depthwise convolution of one channel becomes an ordinary one.
    """
    parts: dict[str, str] = {}
    builder = Builder(region, region.graph)
    for node in list(region.graph.nodes):
        op = dialect_op(node)
        if op is None:
            continue
        parts[node.name] = node.name
        form = _FORMS.get(op.name)
        if form is None:
            continue
        before = set(region.graph.nodes)
        with region.graph.inserting_before(node):
            new = form(builder, node, arguments(node))
        if new is None:
            continue
        parts |= {n.name: node.name for n in region.graph.nodes if n not in before}
        node.replace_all_uses_with(new)
        region.graph.erase_node(node)
    region.recompile()
    return parts


def _linear(builder: Builder, node: Node, a: dict[str, Any]) -> Node | None:
    weight, *constants = (_constant(node, a[name]) for name in _BY_CHANNEL)
    if all(bool((values == values[0]).all()) for values in constants[1:]):
        return None
    origin, x = node.meta["origin"], a["input"]
    rows = math.prod(shape_of(x)[:-1])
    image = [1, rows, 1, weight.shape[1]]
    edge = with_layout(edge_of(x), NHWC)
    pixels = builder.call(reshape, x, image, edge=edge, origin=origin)
    given = dict(zip(_BY_CHANNEL, [weight[:, None, None, :], *constants], strict=True))
    values = {
        **{name: builder.constant(f"{node.name}_{name}", of) for name, of in given.items()},
        "stride": [1, 1],
        "padding": [0] * 4,
        "dilation": [1, 1],
        "groups": 1,
    }
    rest = list(a.values())[1 + len(_BY_CHANNEL) :]
    edge = with_layout(edge_of(node), NHWC)
    sums = builder.call(conv2d, pixels, *values.values(), *rest, edge=edge, origin=origin)
    return builder.call(reshape, sums, list(shape_of(node)), edge=edge_of(node), origin=origin)


def _conv2d(builder: Builder, node: Node, a: dict[str, Any]) -> Node | None:
    groups, x = a["groups"], a["input"]
    if groups == 1:
        return None
    inputs, outputs = shape_of(x)[3] // groups, shape_of(node)[3] // groups
    results = []
    for group in range(groups):
        start = group * inputs
        given = x, 3, start, start + inputs, 1
        part = builder.call(slice_op, *given, edge=edge_of(x), origin=node.meta["origin"])
        own = slice(group * outputs, (group + 1) * outputs)
        constants = {
            name: builder.constant(f"{node.name}_{name}", _constant(node, a[name])[own])
            for name in _BY_CHANNEL
        }
        values = {**a, "input": part, "groups": 1, **constants}
        edge, origin = edge_of(node), node.meta["origin"]
        results.append(builder.call(conv2d, *values.values(), edge=edge, origin=origin))
    return builder.call(cat, results, 3, edge=edge_of(node), origin=node.meta["origin"])


def _depthwise_conv2d(builder: Builder, node: Node, a: dict[str, Any]) -> Node | None:
    weight = _constant(node, a["weight"])
    if shape_of(a["input"])[3] != 1 or weight.shape[2] == 1:
        return None
    kernel = builder.constant(f"{node.name}_weight", weight.permute(2, 0, 1).unsqueeze(3))
    values = [*a.items()]
    place = [name for name, _ in values].index("dilation") + 1
    given = [kernel if name == "weight" else value for name, value in values]
    given.insert(place, 1)  # groups
    return builder.call(conv2d, *given, edge=edge_of(node), origin=node.meta["origin"])


def _constant(node: Node, argument: Any) -> torch.Tensor:
    module = node.graph.owning_module
    assert module is not None
    constant = tensor_constant(module, argument)
    assert constant is not None  # computed weights have no form in a .tflite file
    return constant


_FORMS: Mapping[str, Callable[[Builder, Node, dict[str, Any]], Node | None]] = {
    "conv2d": _conv2d,
    "depthwise_conv2d": _depthwise_conv2d,
    "linear": _linear,
}
