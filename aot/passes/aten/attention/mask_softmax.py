# SPDX-License-Identifier: Apache-2.0
"""softmax of scores with a mask -> pl_float::masked_softmax.

A mask is minus infinity, or a large negative number. It replaces scores or is added to them; or a
large number is subtracted. A range with such a number has no room for the scores.

Matches softmax over the last dimension of x.masked_fill(mask, number), also as where; and of x +
mask and x - mask with a constant mask. additive_masks.py turns all others into where. An element is
masked if it is at least `FAR` below the largest of its row. The same number added to a whole row
changes nothing. Leaves masks without effect, and masks of whole rows: torch gives NaN for them.

Masks from the model's inputs or from computations may follow one another. A row fully masked by
them gives 0. A mask of unknown numbers is added, but not below `_FLOOR`: exp(-24) is 4e-11.
Calibration must show that it is a mask (aot/quality/mask_warnings.py).

Torch's decompositions test for rows of minus infinity only, and give 0 for them
(aot/passes/aten/attention/safe_softmax.py). This test also becomes part of the mask, or is removed
if no score is infinite.
"""

from __future__ import annotations

import functools

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.attention.safe_softmax import may_be_infinite, safe_choice
from aot.passes.aten.build import call, constant
from aot.passes.aten.masks.mask_nodes import FAR, MOVEMENT, for_scores, negated
from aot.rules.function import function_root
from aot.rules.masked_softmax import MASKED_SOFTMAX

_aten = torch.ops.aten
_FLOOR = -24.0
_SUMS = {_aten.add.Tensor: 1, _aten.sub.Tensor: -1}


def mask_softmax(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many softmaxes were rewritten."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target is not _aten.softmax.int:
            continue
        scores = node.args[0]
        assert isinstance(scores, Node)
        if argument(node, "dim") % scores.meta["val"].dim() != scores.meta["val"].dim() - 1:
            continue
        choice = safe_choice(module, node)
        with module.graph.inserting_before(node):
            replacement = (
                _computed(module, node, scores)
                or _masked_fill(module, node, scores, choice is not None)
                or _addition(module, node, scores, choice is not None)
            )
        if replacement is None and choice is not None and not may_be_infinite(module, scores):
            replacement = node
        if replacement is None:
            continue
        for other in (node, choice):
            if other is not None and other is not replacement:
                other.replace_all_uses_with(replacement)
                module.graph.erase_node(other)
        count += 1
    return count


def masked(module: GraphModule, node: Node, scores: Node, kept: torch.Tensor) -> Node:
    """Return the replacement of `node`: softmax over the kept elements of the last dimension."""
    if bool(kept.all()):
        return call(node, _aten.softmax.int, scores, -1)
    kept = kept.expand(*kept.shape[:-1], scores.meta["val"].shape[-1])
    for dim in range(kept.dim() - 1):
        if bool((kept == kept.narrow(dim, 0, 1)).all()):
            kept = kept.narrow(dim, 0, 1)
    mask = constant(module, node, "mask", kept)
    return call(node, MASKED_SOFTMAX, scores, mask)


def with_bias(module: GraphModule, node: Node, scores: Node, bias: torch.Tensor) -> Node:
    """Return the replacement of `node`: softmax of scores + bias.

    A row with minus infinity only gives 0.
    """
    bias = bias.expand(*bias.shape[:-1], scores.meta["val"].shape[-1])
    largest = bias.amax(-1, keepdim=True)
    kept = (bias - largest > -FAR) & (largest > -torch.inf)
    finite = torch.where(kept, bias - largest, 0.0) if not bool(kept.all()) else bias
    if bool(finite.any()):
        added = constant(module, node, "bias", finite)
        scores = call(node, _aten.add.Tensor, scores, added)
    return masked(module, node, scores, kept)


def floored(node: Node, scores: Node, bias: Node) -> Node:
    """Return scores + bias, with the bias, a numeric mask from an input, clamped at its floor."""
    bias = call(node, _aten.clamp.default, bias, _FLOOR)
    return call(node, _aten.add.Tensor, scores, bias)


def floor_of(node: Node) -> float | None:
    """Return the floor that `floored` put under a mask, if a node is one; lower values are lost."""
    if node.target is not _aten.clamp.default or node.args[1:] != (_FLOOR,):
        return None
    return _FLOOR


def _computed(module: GraphModule, node: Node, scores: Node) -> Node | None:
    masks: list[Node] = []
    while (found := _filled(module, node, scores)) is not None:
        scores, kept = found
        masks.append(kept)
    if any(tensor_constant(module, mask) is None for mask in masks):
        mask = functools.reduce(functools.partial(call, node, _aten.logical_and.default), masks)
        return call(node, MASKED_SOFTMAX, scores, for_scores(node, mask, scores))
    for bias, rest in _sides(scores):
        if _is_given_mask(bias, rest):
            return call(node, _aten.softmax.int, floored(node, rest, bias), -1)
    return None


def _filled(module: GraphModule, node: Node, where: Node) -> tuple[Node, Node] | None:
    """Return (scores, mask) of a where replacing scores by minus infinity."""
    if where.target is not _aten.where.self:
        return None
    condition, *branches = where.args
    assert isinstance(condition, Node)
    for filler, scores, is_kept in zip(branches, branches[::-1], (False, True), strict=True):
        number = tensor_constant(module, filler)
        if number is None or not bool((number <= -FAR).all()) or not isinstance(scores, Node):
            continue
        if scores.meta["val"].shape != where.meta["val"].shape:
            continue
        return scores, condition if is_kept else negated(module, node, condition)
    return None


def _sides(addition: Node) -> list[tuple[Node, Node]]:
    """Return the possible (bias, scores) pairs of an addition's two sides."""
    if addition.target is not _aten.add.Tensor or argument(addition, "alpha") != 1:
        return []
    sides = [side for side in addition.args if isinstance(side, Node)]
    shape = addition.meta["val"].shape
    pairs = zip(sides[::-1], sides, strict=True)
    return [(a, b) for a, b in pairs if len(sides) == 2 and b.meta["val"].shape == shape]


def _is_given_mask(bias: Node, scores: Node) -> bool:
    """Return True if a bias is an input mask.

    It is an input itself, or a function of an input times a large negative number; it may be
    broadcast to several rows or heads.
    """
    few = bias.meta["val"].numel() < scores.meta["val"].numel()
    source = _moved(bias)
    factors = [a for a in source.args if isinstance(a, float | int)]
    if source.target is _aten.mul.Tensor and min(factors, default=0.0) <= -FAR:
        root = function_root(source)
        source = source if root is None else _moved(root)
    return few and source.op == "placeholder" and "state" not in source.meta


def _moved(node: Node) -> Node:
    """Return the source of a node that only changes order, shape or dtype."""
    while node.target in (*MOVEMENT, _aten._to_copy.default):
        source = node.args[0]
        assert isinstance(source, Node)
        node = source
    return node


def _masked_fill(module: GraphModule, node: Node, where: Node, safe: bool) -> Node | None:
    if where.target is not _aten.where.self:
        return None
    condition, *branches = (tensor_constant(module, n) for n in where.args)
    for position, (filler, taken) in enumerate(zip(branches, (False, True), strict=True)):
        if condition is None or filler is None or filler.numel() != 1 or filler.item() > -FAR:
            continue
        scores = where.args[2 - position]
        assert isinstance(scores, Node)
        kept = condition == taken
        whole_rows = not bool(kept.any(-1).all()) and not (safe and filler.item() == -torch.inf)
        if scores.meta["val"].shape != where.meta["val"].shape or whole_rows:
            return None
        return masked(module, node, scores, kept)
    return None


def _addition(module: GraphModule, node: Node, addition: Node, safe: bool) -> Node | None:
    if addition.target not in _SUMS or argument(addition, "alpha") != 1:
        return None
    sign = _SUMS[addition.target]
    for scores, mask in (addition.args[:2], addition.args[1::-1])[: 2 if sign > 0 else 1]:
        bias = tensor_constant(module, mask)
        bias = None if bias is None else bias * sign
        if bias is None or bias.dim() == 0 or not isinstance(scores, Node):
            continue
        largest = bias.amax(-1, keepdim=True)
        masks = bool((bias <= largest - FAR).any())
        masks &= safe or bool((largest > -torch.inf).all())
        if masks and scores.meta["val"].shape == addition.meta["val"].shape:
            return with_bias(module, node, scores, bias)
    return None
