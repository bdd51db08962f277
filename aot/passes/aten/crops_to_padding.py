# SPDX-License-Identifier: Apache-2.0
"""Has a convolution whose result loses its ends to slices, as a causal one that pads both ends, pad
so much less: nothing computes or copies what is dropped.

Matches slices of a convolution over one or two dimensions that is read by nothing else, along a
dimension in which it has stride 1 and pads at least what is dropped. Leaves transposed ones.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.passes.aten.build import call
from aot.rules.rule import argument

_aten = torch.ops.aten
_CONV = _aten.convolution.default
_BEFORE = 2  # dimensions in front of those that a convolution goes over: batch and channels
_MAX_RANK = 4


def _pads(conv: Node) -> list[list[int]]:
    """What a convolution pads at both ends of each of its dimensions."""
    return [[size, size] for size in argument(conv, "padding")]


def _crop(node: Node, conv: Node, pads: list[list[int]]) -> list[list[int]] | None:
    """The pads without what a node drops of the convolution's result; None if that is no matter of
    padding.
    """
    if node.target is not _aten.slice.Tensor or argument(node, "step") != 1:
        return None
    (source,) = node.all_input_nodes
    shape = source.meta["val"].shape
    dim = argument(node, "dim") % len(shape)
    kept = range(shape[dim])[argument(node, "start") : argument(node, "end")]
    axis = dim - _BEFORE
    if axis < 0 or argument(conv, "stride")[axis] != 1:
        return None
    first, last = pads[axis][0] - kept.start, pads[axis][1] - (shape[dim] - kept.stop)
    if min(first, last) < 0:
        return None
    return [*pads[:axis], [first, last], *pads[axis + 1 :]]


def crops_to_padding(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many slices were dropped."""
    count = 0
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
