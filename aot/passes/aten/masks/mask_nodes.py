# SPDX-License-Identifier: Apache-2.0
"""Nodes of boolean masks, as the passes over masks make them."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.rules.movement import PERMUTE_TARGETS, RESHAPE_TARGETS

_aten = torch.ops.aten
FAR = 64.0
"""An element is masked if it is at least so far below the largest of its row: exp(-64) is 1e-28."""

FARTHER = 1e4
"""No activation is so far from 0."""

MOVEMENT = {
    *RESHAPE_TARGETS,
    *PERMUTE_TARGETS,
    _aten.expand.default,
    _aten.repeat.default,
    _aten.select.int,
    _aten.slice.Tensor,
}


MAX_POOLS = {
    _aten.adaptive_max_pool2d.default,
    _aten.max_pool2d.default,
    _aten.max_pool2d_with_indices.default,
    _aten.max_pool3d_with_indices.default,
}
LARGEST = {
    *MAX_POOLS,
    _aten.amax.default,
    _aten.argmax.default,
    _aten.max.default,
    _aten.max.dim,
}
LEAST = {_aten.amin.default, _aten.argmin.default, _aten.min.default, _aten.min.dim}
"""Minimum and maximum ops: they ignore elements far above, or far below."""


SOFT: dict[Any, int] = {
    _aten.softmax.int: 0,
    _aten.log_softmax.int: 0,
    _aten.logsumexp.default: 0,
    _aten.scaled_dot_product_attention.default: 3,
}
"""Readers that lose an element `FAR` below the others, and the position of the argument."""


def is_far(number: float) -> bool:
    return abs(number) >= FAR


def negated(module: GraphModule, node: Node, mask: Node) -> Node:
    """Return the negated mask."""
    known = tensor_constant(module, mask)
    if known is not None:
        return constant(module, node, "mask", ~known)
    if mask.target is _aten.logical_not.default:
        (mask,) = mask.all_input_nodes
        return mask
    return call(node, _aten.logical_not.default, mask)


def padded_mask(
    module: GraphModule, node: Node, mask: Node, pads: list[int], value: bool | float = False
) -> Node:
    """Return a mask padded like constant_pad_nd. The dialect cannot pad booleans."""
    known = tensor_constant(module, mask)
    if known is not None:
        padded = _aten.constant_pad_nd.default(known, pads, bool(value))
        return constant(module, node, "padded", padded)
    for index in range(len(pads) // 2):
        dim = mask.meta["val"].dim() - 1 - index
        for is_end, pad in enumerate(pads[2 * index : 2 * index + 2]):
            shape = list(mask.meta["val"].shape)
            if pad < 0:
                start, end = (0, shape[dim] + pad) if is_end else (-pad, shape[dim])
                mask = call(node, _aten.slice.Tensor, mask, dim, start, end)
            elif pad > 0:
                shape[dim] = pad
                border = constant(module, node, "pad", torch.full(shape, bool(value)))
                parts = [mask, border] if is_end else [border, mask]
                mask = call(node, _aten.cat.default, parts, dim)
    return mask


def for_scores(node: Node, mask: Node, scores: Node) -> Node:
    """Return a mask with an element for each column of the scores; it repeats no rows itself."""
    while mask.target is _aten.expand.default:
        (mask, _) = mask.args  # type: ignore[assignment]
    shape, columns = mask.meta["val"].shape, scores.meta["val"].shape[-1]
    if shape and shape[-1] == columns:
        return mask
    return call(node, _aten.expand.default, mask, [*shape[:-1], columns])


def loses(node: Node, number: float) -> bool:
    """Return True if a far element loses against all others in a reader."""
    if node.target in SOFT:
        return number < 0
    if abs(number) < FARTHER:
        return False
    if node.target is _aten.topk.default:
        return bool(argument(node, "largest") == (number < 0))
    return node.target in (LARGEST if number < 0 else LEAST)
