# SPDX-License-Identifier: Apache-2.0
"""Torch's safe softmax in scaled_dot_product_attention: four extra ops give 0 instead of NaN for
rows of minus infinity only.
"""

from __future__ import annotations

import math

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.masks.mask_nodes import MOVEMENT

_aten = torch.ops.aten
# Ops whose result may be minus infinity because an input is.
_HANDED_ON = {
    *MOVEMENT,
    _aten.add.Tensor,
    _aten.sub.Tensor,
    _aten.where.self,
    _aten.mul.Tensor,
    _aten.mul.Scalar,
}


def safe_choice(module: GraphModule, softmax: Node) -> Node | None:
    """Return the node giving 0 if a softmax's row is only minus infinity, and its result otherwise.

    Return None if the graph has no such test.
    """
    for where in softmax.users:
        if where.target is not _aten.where.self or where.args[2] is not softmax:
            continue
        asked, zero = where.args[:2]
        number = tensor_constant(module, zero)
        if number is not None and not bool(number.any()) and _asks(softmax, asked):
            return where
    return None


def _asks(softmax: Node, asked: object) -> bool:
    """Return True if a value is not(any(not(scores == -inf))), along the softmax's dimension."""
    scores = softmax.args[0]
    assert isinstance(scores, Node)
    some = _of(asked, _aten.logical_not.default)
    finite = _of(some, _aten.any.dim)
    equal = _of(_of(finite, _aten.logical_not.default), _aten.eq.Scalar)
    if equal is not scores:
        return False
    assert isinstance(some, Node) and isinstance(finite, Node)
    (infinite,) = finite.all_input_nodes
    rank = scores.meta["val"].dim()
    same_row = (argument(some, "dim") - argument(softmax, "dim")) % rank == 0
    return same_row and bool(argument(some, "keepdim")) and bool(infinite.args[1] == -math.inf)


def _of(node: object, target: object) -> object:
    """Return the first argument of a call of an op, None of anything else."""
    return node.args[0] if isinstance(node, Node) and node.target is target else None


def may_be_infinite(module: GraphModule, scores: Node) -> bool:
    """Return True if a constant puts minus infinity into scores."""
    known = tensor_constant(module, scores)
    if known is not None:
        return known.is_floating_point() and bool((known == -math.inf).any())
    if scores.target not in _HANDED_ON:
        return False
    return any(may_be_infinite(module, source) for source in scores.all_input_nodes)
