# SPDX-License-Identifier: Apache-2.0
"""What a bias of scores keeps, where it is a mask that the model is given or computes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.passes.aten.build import call, constant
from aot.rules.function import evaluate, function_root, is_mask
from aot.rules.movement import PERMUTE_TARGETS, RESHAPE_TARGETS
from aot.rules.rule import argument

_aten = torch.ops.aten
FAR = 64.0
"""An element is masked if it is at least so far below the largest of its row: exp(-64) is 1e-28."""

MOVEMENT = {
    *RESHAPE_TARGETS,
    *PERMUTE_TARGETS,
    _aten.expand.default,
    _aten.repeat.default,
    _aten.select.int,
    _aten.slice.Tensor,
}

Mask = Callable[[], Node]
"""Makes the node of a mask of booleans, at the graph's insertion point."""


def kept_by(module: GraphModule, node: Node, bias: Node) -> Mask | None:
    """The mask of what a bias keeps: it is 0 there, and far below 0 elsewhere. None if it is not
    known to be of these two values only.

    Args:
      module: holds the constants.
      node: what the mask's ops are of the origin of.
      bias: is added to scores.
    """
    known = tensor_constant(module, bias)
    if known is not None:
        two = bool(((known == 0) | (known <= -FAR)).all())
        return (lambda: constant(module, node, "mask", known == 0)) if two else None
    root = function_root(bias)
    if root is not None and is_mask(root) and not is_mask(bias):
        return _of(node, root, *evaluate(module, bias, torch.tensor([False, True])))
    if bias.target is _aten.where.self:
        condition, yes, no = bias.args
        assert isinstance(condition, Node)
        return _of(node, condition, tensor_constant(module, no), tensor_constant(module, yes))
    if bias.target in MOVEMENT and not bias.kwargs:
        source, *rest = bias.args
        assert isinstance(source, Node)
        moved = kept_by(module, node, source)
        return None if moved is None else lambda: call(node, bias.target, moved(), *rest)
    if bias.target is _aten.add.Tensor and argument(bias, "alpha") == 1:
        a, b = (kept_by(module, node, s) if isinstance(s, Node) else None for s in bias.args)
        return None if a is None or b is None else both(node, a, b)
    return None


def both(node: Node, a: Mask, b: Mask) -> Mask:
    """What two masks keep."""
    return lambda: call(node, _aten.logical_and.default, a(), b())


def _of(
    node: Node, condition: Node, no: torch.Tensor | None, yes: torch.Tensor | None
) -> Mask | None:
    """What a bias keeps that is `yes` where a condition is true, and else `no`."""
    if no is None or yes is None:
        return None
    if bool((yes == 0).all()) and bool((no <= -FAR).all()):
        return lambda: condition
    if bool((no == 0).all()) and bool((yes <= -FAR).all()):
        return lambda: call(node, _aten.logical_not.default, condition)
    return None


def for_scores(node: Node, mask: Node, scores: Node) -> Node:
    """A mask that has an element for each column of the scores, and repeats no rows itself."""
    while mask.target is _aten.expand.default:
        (mask, _) = mask.args  # type: ignore[assignment]
    shape, columns = mask.meta["val"].shape, scores.meta["val"].shape[-1]
    if shape and shape[-1] == columns:
        return mask
    return call(node, _aten.expand.default, mask, [*shape[:-1], columns])
