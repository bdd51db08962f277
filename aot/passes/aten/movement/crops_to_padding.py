# SPDX-License-Identifier: Apache-2.0
"""Reduces a convolution's padding if slices drop the ends of its result, as in causal convolutions
with padding at both ends. Dropped values are then neither computed nor copied.

Matches a slice as the only reader of a convolution over one or two dimensions. Along the sliced
dimension it has stride 1 and pads at least the dropped part. A BatchNorm and pointwise functions
may stand between: the slice moves before them. Leaves transposed convolutions.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.results import is_result, take, taken_from
from aot.dialect.rule import argument
from aot.passes.aten.build import call
from aot.rules.function import is_elementwise

_aten = torch.ops.aten
_CONV = _aten.convolution.default
_NORM = _aten._native_batch_norm_legit_no_training.default
_BEFORE = 2  # dimensions before the convolved ones: batch and channels
_MAX_RANK = 4


def _pads(conv: Node) -> list[list[int]]:
    """Return a convolution's padding at both ends of each of its dimensions."""
    return [[size, size] for size in argument(conv, "padding")]


def _crop(node: Node, conv: Node, pads: list[list[int]]) -> list[list[int]] | None:
    """Return the padding without the part that a slice drops; None if padding is not affected."""
    if node.target is not _aten.slice.Tensor or argument(node, "step") != 1:
        return None
    (source,) = node.all_input_nodes
    shape = source.meta["val"].shape
    if len(shape) != len(pads) + _BEFORE:
        return None
    dim = argument(node, "dim") % len(shape)
    kept = range(shape[dim])[argument(node, "start") : argument(node, "end")]
    axis = dim - _BEFORE
    if axis < 0 or argument(conv, "stride")[axis] != 1:
        return None
    first, last = pads[axis][0] - kept.start, pads[axis][1] - (shape[dim] - kept.stop)
    if min(first, last) < 0:
        return None
    return [*pads[:axis], [first, last], *pads[axis + 1 :]]


def _between(node: Node) -> list[Node]:
    """Return the ops between a convolution and a slice, without other readers; none if there is no
    convolution.
    """
    found: list[Node] = []
    (value,) = node.all_input_nodes
    while len(value.users) == 1 and value.target is not _CONV:
        is_function = is_elementwise(value.target) and len(value.all_input_nodes) == 1
        if not (is_function or value.target is _NORM or is_result(value)):
            return []
        found.insert(0, value)
        if not isinstance(value.args[0], Node):
            return []
        value = value.args[0]
    return found if len(value.users) == 1 else []


def _crop_first(node: Node) -> None:
    """Move a slice before its input's op, if it can reduce a convolution's padding there."""
    ops = _between(node)
    if not ops:
        return
    conv = ops[0].args[0]
    assert isinstance(conv, Node)
    if argument(conv, "transposed") or _crop(node, conv, _pads(conv)) is None:
        return
    with node.graph.inserting_before(node):
        value = call(node, node.target, conv, *node.args[1:])
        for op in ops:
            if is_result(op):
                made = take(node.graph, value, taken_from(op)[1])
                made.meta = {**op.meta, "val": value.meta["val"][taken_from(op)[1]]}
                value = made
            else:
                value = call(op, op.target, value, *op.args[1:])
    node.replace_all_uses_with(value)
    for op in (node, *reversed(ops)):
        op.graph.erase_node(op)


def crops_to_padding(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many slices were dropped."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target is _aten.slice.Tensor:
            _crop_first(node)
    for conv in list(module.graph.nodes):
        if conv.target is not _CONV or argument(conv, "transposed"):
            continue
        x, weight, *rest = conv.args
        rank = conv.meta["val"].dim()
        if rank > _MAX_RANK or weight.meta["val"].dim() != rank:
            continue
        last, pads, slices = conv, _pads(conv), 0
        while len(last.users) == 1:
            (user,) = last.users
            cropped = _crop(user, conv, pads)
            if cropped is None:
                break
            last, pads, slices = user, cropped, slices + 1
        if not slices:
            continue
        with module.graph.inserting_before(conv):
            flat = [size for ends in reversed(pads) for size in ends]
            padded = call(conv, _aten.constant_pad_nd.default, x, flat) if any(flat) else x
            bias, stride, _, *others = rest
            made = call(conv, _CONV, padded, weight, bias, stride, [0] * len(pads), *others)
        last.replace_all_uses_with(made)
        count += slices
    return count
