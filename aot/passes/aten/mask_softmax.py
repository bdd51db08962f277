# SPDX-License-Identifier: Apache-2.0
"""softmax of scores with a constant mask -> pl_float::masked_softmax.

A mask is written as minus infinity, or a large negative number, in place of scores or added to
them: a range that holds such a number has no room for the scores. Matches softmax over the last
dimension of x.masked_fill(mask, number), also as where, and of x + mask. An element is masked if it
is at least `_FAR` below the largest of its row: exp(-64) is 1e-28. The same number added to a whole
row changes nothing. Leaves masks that mask nothing, those that mask whole rows, for which torch
gives NaN, and those that the model computes.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.passes.aten.build import call, constant
from aot.rules.masked_softmax import MASKED_SOFTMAX
from aot.rules.rule import argument

_aten = torch.ops.aten
_FAR = 64.0


def mask_softmax(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many softmaxes were rewritten."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target is not _aten.softmax.int:
            continue
        scores = node.args[0]
        assert isinstance(scores, Node)
        if argument(node, "dim") % max(scores.meta["val"].dim(), 1) != scores.meta["val"].dim() - 1:
            continue
        with module.graph.inserting_before(node):
            replacement = _masked_fill(module, node, scores) or _addition(module, node, scores)
        if replacement is not None:
            node.replace_all_uses_with(replacement)
            module.graph.erase_node(node)
            count += 1
    return count


def masked(module: GraphModule, node: Node, scores: Node, kept: torch.Tensor) -> Node:
    """What `node` gives: softmax over the kept elements of the last dimension."""
    if bool(kept.all()):
        return call(node, _aten.softmax.int, scores, -1)
    kept = kept.expand(*kept.shape[:-1], scores.meta["val"].shape[-1])
    for dim in range(kept.dim() - 1):
        if bool((kept == kept.narrow(dim, 0, 1)).all()):
            kept = kept.narrow(dim, 0, 1)
    mask = constant(module, node, "mask", kept)
    return call(node, MASKED_SOFTMAX, scores, mask)


def with_bias(module: GraphModule, node: Node, scores: Node, bias: torch.Tensor) -> Node:
    """What `node` gives: softmax of scores + bias; a row with minus infinity only gives 0."""
    bias = bias.expand(*bias.shape[:-1], scores.meta["val"].shape[-1])
    largest = bias.amax(-1, keepdim=True)
    kept = (bias - largest > -_FAR) & (largest > -torch.inf)
    finite = torch.where(kept, bias - largest, 0.0) if not bool(kept.all()) else bias
    if bool(finite.any()):
        added = constant(module, node, "bias", finite)
        scores = call(node, _aten.add.Tensor, scores, added)
    return masked(module, node, scores, kept)


def _masked_fill(module: GraphModule, node: Node, where: Node) -> Node | None:
    if where.target is not _aten.where.self:
        return None
    condition, *branches = (tensor_constant(module, n) for n in where.args)
    for position, (filler, taken) in enumerate(zip(branches, (False, True), strict=True)):
        if condition is None or filler is None or filler.numel() != 1 or filler.item() > -_FAR:
            continue
        scores = where.args[2 - position]
        assert isinstance(scores, Node)
        kept = condition == taken
        if scores.meta["val"].shape != where.meta["val"].shape or not bool(kept.any(-1).all()):
            return None
        return masked(module, node, scores, kept)
    return None


def _addition(module: GraphModule, node: Node, addition: Node) -> Node | None:
    if addition.target is not _aten.add.Tensor or argument(addition, "alpha") != 1:
        return None
    for scores, mask in (addition.args[:2], addition.args[1::-1]):
        bias = tensor_constant(module, mask)
        if bias is None or bias.dim() == 0 or not isinstance(scores, Node):
            continue
        largest = bias.amax(-1, keepdim=True)
        masks = bool((bias - largest <= -_FAR).any()) and bool((largest > -torch.inf).all())
        if masks and scores.meta["val"].shape == addition.meta["val"].shape:
            return with_bias(module, node, scores, bias)
    return None
