# SPDX-License-Identifier: Apache-2.0
"""What a bias of scores keeps, where it is a mask that the model is given or computes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import tensor_constant
from aot.passes.aten.build import call, constant
from aot.rules.function import is_elementwise, is_mask, is_scalar
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


def kept_by(module: GraphModule, node: Node, bias: Node, far: float = FAR) -> Mask | None:
    """The mask of what a bias keeps: it is 0 there, and far below 0 elsewhere. None if it is not
    known to be of these two values only.

    Args:
      module: holds the constants.
      node: what the mask's ops are of the origin of.
      bias: is added to scores.
      far: how far below 0, at least; of a bias that is subtracted, which is above it, negative.
    """
    known = tensor_constant(module, bias)
    if known is not None:
        two = bool(((known == 0) | _is_far(known, far)).all())
        return (lambda: constant(module, node, "mask", known == 0)) if two else None
    if not is_mask(bias) and (mask := _mask_beneath(bias)) is not None:
        values = _function_of_mask(module, bias, mask)
        return _of(node, mask, far, *values)
    if bias.target is _aten.where.self:
        condition, yes, no = bias.args
        assert isinstance(condition, Node)
        return _of(node, condition, far, tensor_constant(module, no), tensor_constant(module, yes))
    if bias.target in MOVEMENT and not bias.kwargs:
        source, *rest = bias.args
        assert isinstance(source, Node)
        moved = kept_by(module, node, source, far)
        return None if moved is None else lambda: call(node, bias.target, moved(), *rest)
    if bias.target is _aten.add.Tensor and argument(bias, "alpha") == 1:
        a, b = (kept_by(module, node, s, far) if isinstance(s, Node) else None for s in bias.args)
        return None if a is None or b is None else both(node, a, b)
    return None


def _mask_beneath(bias: Node) -> Node | None:
    """The nearest mask that a bias is a function of, and of nothing else."""
    node = bias
    while not is_mask(node):
        sources = [source for source in node.all_input_nodes if not is_scalar(source)]
        same = len(sources) == 1 and sources[0].meta["val"].shape == node.meta["val"].shape
        if not is_elementwise(node.target) or not same:
            return None
        (node,) = sources
    return node


def _function_of_mask(module: GraphModule, bias: Node, mask: Node) -> torch.Tensor:
    """What a bias is where a mask is false, and where it is true."""
    if bias is mask:
        return torch.tensor([False, True])

    def value(n: Node) -> torch.Tensor:
        known = tensor_constant(module, n)
        return _function_of_mask(module, n, mask) if known is None else known.reshape(())

    args, kwargs = map_arg((bias.args, bias.kwargs), value)
    result: torch.Tensor = bias.target(*args, **kwargs)  # type: ignore[operator]
    return result


def _is_far(values: torch.Tensor, far: float) -> torch.Tensor:
    return values <= -far if far > 0 else values >= -far


def both(node: Node, a: Mask, b: Mask) -> Mask:
    """What two masks keep."""
    return lambda: call(node, _aten.logical_and.default, a(), b())


def _of(
    node: Node, condition: Node, far: float, no: torch.Tensor | None, yes: torch.Tensor | None
) -> Mask | None:
    """What a bias keeps that is `yes` where a condition is true, and else `no`."""
    if no is None or yes is None:
        return None
    if bool((yes == 0).all()) and bool(_is_far(no, far).all()):
        return lambda: condition
    if bool((no == 0).all()) and bool(_is_far(yes, far).all()):
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
