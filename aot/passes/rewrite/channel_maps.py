# SPDX-License-Identifier: Apache-2.0
"""Channels of a value, its last dimension, as ops pass them on."""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import arguments, dialect_op, inputs_of, shape_of, tensor_constant

_POOLS = (
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "avg_pool2d",
    "max_pool2d",
    "mean_pool2d",
    "resize_bilinear",
)
_REDUCTIONS = ("mean", "amax", "amin")

Sources = list[tuple[Node, torch.Tensor]]
"""Values, and for each channel of the result the one of the value; -1: none of it."""


def is_value(node: object) -> bool:
    """Return True of a computed tensor with channels."""
    return (
        isinstance(node, Node)
        and node.op != "get_attr"
        and isinstance(node.meta.get("val"), torch.Tensor)
        and node.meta["val"].dim() > 0
    )


def passed_on(module: GraphModule, node: Node) -> Sources | None:
    """Return the sources of a result's channels: each is computed of these channels only.

    Return None of an op that mixes its channels, or asks for all of them. Constants are sources of
    elementwise ops and concatenations. Not a source: what is the same for all channels.
    """
    op = dialect_op(node)
    if op is None or not is_value(node):
        return None
    values, channels = arguments(node), shape_of(node)[-1]
    every = torch.arange(channels)
    if op.transposes is not None and op.transposes.elementwise:
        read = [values[name] for name in op.transposes.tensors]
        found = [(x, every) for x in read if shape_of(x)[-1:] == (channels,)]
        return found if any(is_value(x) for x, _ in found) else None
    if op.name == "cat":
        return _joined(node)
    source = values.get("input")
    if not isinstance(source, Node) or not is_value(source) or inputs_of(node) != [source]:
        return None
    index = _index(module, op.name, node, source)
    return None if index is None else [(source, index)]


def _joined(node: Node) -> Sources:
    values, channels = arguments(node), shape_of(node)[-1]
    if values["dim"] != len(shape_of(node)) - 1:
        return [(x, torch.arange(channels)) for x in values["inputs"]]
    found: Sources = []
    first = 0
    for part in values["inputs"]:
        index = torch.arange(-first, channels - first)
        end = shape_of(part)[-1]
        found.append((part, torch.where((index >= 0) & (index < end), index, -1)))
        first += end
    return found


def _index(module: GraphModule, name: str, node: Node, source: Node) -> torch.Tensor | None:
    """Return the channel of the only source for each channel of the result."""
    values, last = arguments(node), len(shape_of(source)) - 1
    before, after = shape_of(source)[-1], shape_of(node)[-1] if shape_of(node) else 0
    every = torch.arange(after)
    if name == "depthwise_conv2d":
        return every // (after // before)
    if name in _POOLS:
        return every
    if name in _REDUCTIONS:
        return every if last not in values["dim"] else None
    if name == "transpose":
        return every if values["perm"][-1] == last else None
    if name == "pad":
        return every if not any(values["padding"][2 * last :]) else None
    if name == "slice":
        is_run = values["dim"] != last or values["step"] == 1
        return every + (values["start"] if values["dim"] == last else 0) if is_run else None
    if name == "gather":
        read = dict(zip(values["dims"], values["indices"], strict=True)).get(last)
        index = every if read is None else tensor_constant(module, read)
        return None if index is None else index.long()
    if name == "reshape":  # pixels may become channels
        return every % before if after and after % before == 0 else None
    return None
