# SPDX-License-Identifier: Apache-2.0
"""scaled_dot_product_attention -> its products and its softmax.

Torch's own decomposition copies keys and values for grouped heads, scales both sides, and makes
masks on the device. It also tests on the device for fully masked rows. Here heads of a group are
rows of one product. A mask, also one from is_causal, selects the softmax's elements
(aot/passes/aten/attention/mask_softmax.py). Leaves attention with dropout.
"""

from __future__ import annotations

import math

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.attention.mask_softmax import floored, masked, with_bias
from aot.passes.aten.build import call
from aot.passes.aten.masks.mask_nodes import for_scores
from aot.rules.masked_softmax import MASKED_SOFTMAX

_aten = torch.ops.aten
ATTENTION = _aten.scaled_dot_product_attention.default

KEPT = (ATTENTION,)
"""Ops left whole by export for this pass."""


def decompose_attention(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many attentions were decomposed."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target is not ATTENTION or argument(node, "dropout_p"):
            continue
        with module.graph.inserting_before(node):
            replacement = _decomposed(module, node)
        node.replace_all_uses_with(replacement)
        module.graph.erase_node(node)
        count += 1
    return count


def _decomposed(module: GraphModule, node: Node) -> Node:
    query, key, value = node.args[:3]
    assert isinstance(query, Node) and isinstance(key, Node)
    *batch, length, depth = query.meta["val"].shape
    scale = argument(node, "scale")
    scale = 1.0 / math.sqrt(depth) if scale is None else scale
    if scale != 1.0:
        query = call(node, _aten.mul.Tensor, query, scale)
    groups = 1
    if argument(node, "enable_gqa"):
        groups = batch[-1] // key.meta["val"].shape[-3]
    if groups > 1:
        merged = [*batch[:-1], batch[-1] // groups, groups * length, depth]
        query = call(node, _aten.reshape.default, query, merged)
    keys = call(node, _aten.transpose.int, key, -1, -2)
    scores = call(node, _aten.matmul.default, query, keys)
    grouped = list(scores.meta["val"].shape)
    if groups > 1:
        by_head = [*grouped[:-3], batch[-1], length, grouped[-1]]
        scores = call(node, _aten.reshape.default, scores, by_head)
    weights = _weights(module, node, scores)
    if groups > 1:
        weights = call(node, _aten.reshape.default, weights, grouped)
    result = call(node, _aten.matmul.default, weights, value)
    shape = list(node.meta["val"].shape)
    same = list(result.meta["val"].shape) == shape
    return result if same else call(node, _aten.reshape.default, result, shape)


def _choice(module: GraphModule, mask: Node) -> tuple[Node, Node] | None:
    """Return (mask, bias) of where(mask, bias, minus infinity), as additive_masks.py writes it."""
    if mask.target is not _aten.where.self:
        return None
    condition, bias, fill = mask.args
    number = tensor_constant(module, fill)
    if number is None or not bool((number == -math.inf).all()):
        return None
    assert isinstance(condition, Node) and isinstance(bias, Node)
    return condition, bias


def _weights(module: GraphModule, node: Node, scores: Node) -> Node:
    """Return the softmax of the scores, with the mask."""
    mask = argument(node, "attn_mask")
    if argument(node, "is_causal"):
        rows, columns = scores.meta["val"].shape[-2:]
        return masked(module, node, scores, torch.ones(rows, columns, dtype=torch.bool).tril())
    known = tensor_constant(module, mask)
    if known is not None and known.dtype is torch.bool:
        return masked(module, node, scores, known)
    if known is not None:
        return with_bias(module, node, scores, known)
    if mask is None:
        return call(node, _aten.softmax.int, scores, -1)
    if mask.meta["val"].dtype is not torch.bool:
        choice = _choice(module, mask)
        if choice is None:
            return call(node, _aten.softmax.int, floored(node, scores, mask), -1)
        mask, bias = choice
        number = tensor_constant(module, bias)
        if number is None or bool(number.any()):
            scores = call(node, _aten.add.Tensor, scores, bias)
    return call(node, MASKED_SOFTMAX, scores, for_scores(node, mask, scores))
