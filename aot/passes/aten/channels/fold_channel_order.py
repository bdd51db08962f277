# SPDX-License-Identifier: Apache-2.0
"""layer(x.flip(1)) -> layer(x), with the weight's input channels in another order; for example for
blue, green, red instead of red, green, blue.

Matches a flip, or an index by constants, of all channels. Its only reader is a linear layer or a
convolution without groups. Permutations, and sums and products with constants, may lie between;
they get the other order. Leaves layers with computed weights.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.rules.movement import PERMUTE_TARGETS

_aten = torch.ops.aten
_LINEAR, _CONV = _aten.linear.default, _aten.convolution.default
_ORDERS = (_aten.flip.default, _aten.index_select.default, _aten.index.Tensor)
_WITH_CONSTANTS = (_aten.add.Tensor, _aten.sub.Tensor, _aten.mul.Tensor, _aten.div.Tensor)


def fold_channel_order(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many orders went into weights."""
    count = 0
    for layer in list(module.graph.nodes):
        if _is_layer(layer):
            while _fold(module, layer):
                count += 1
    return count


def _is_layer(node: Node) -> bool:
    if node.target is _LINEAR:
        return True
    return (
        node.target is _CONV and argument(node, "groups") == 1 and not argument(node, "transposed")
    )


def _fold(module: GraphModule, layer: Node) -> bool:
    weight = tensor_constant(module, layer.args[1])
    value = layer.args[0]
    if weight is None:
        return False
    assert isinstance(value, Node)
    dim = value.meta["val"].dim() - 1 if layer.target is _LINEAR else 1
    between: list[tuple[Node, int]] = []
    while len(value.users) == 1 and (order := _order(module, value, dim)) is None:
        source = _source(module, value)
        if source is None:
            return False
        between.insert(0, (value, dim))
        dim, value = _dim_before(value, dim), source
    if len(value.users) != 1:
        return False
    assert order is not None
    back = order.argsort()
    x = value.all_input_nodes[0]
    for op, axis in between:
        with module.graph.inserting_before(op):
            known = [_reordered(module, a, axis, op, back) for a in op.args]
            x = call(op, op.target, *(x if a is op.all_input_nodes[0] else a for a in known))
    with module.graph.inserting_before(layer):
        layer.update_arg(1, constant(module, layer, "reordered", weight.index_select(1, back)))
    layer.update_arg(0, x)
    for unread in (*(op for op, _ in reversed(between)), value):
        module.graph.erase_node(unread)
    return True


def _order(module: GraphModule, node: Node, dim: int) -> torch.Tensor | None:
    """Return the source index of each index of a dimension, if a node only reorders it;
    else None.
    """
    if node.target not in _ORDERS or node.kwargs:
        return None
    size, rank = node.meta["val"].shape[dim], node.meta["val"].dim()
    if node.target is _aten.flip.default:
        dims = {d % rank for d in argument(node, "dims")}
        return torch.arange(size).flip(0) if dims == {dim} else None
    index: object = None
    if node.target is _aten.index_select.default and argument(node, "dim") % rank == dim:
        index = argument(node, "index")
    if node.target is _aten.index.Tensor:
        indices = [*argument(node, "indices")]
        if [d for d, one in enumerate(indices) if one is not None] == [dim]:
            index = indices[dim]
    known = tensor_constant(module, index)
    if known is None or known.shape != (size,) or known.dtype is torch.bool:
        return None
    known = known.long() % size
    return known if torch.equal(known.sort().values, torch.arange(size)) else None


def _source(module: GraphModule, node: Node) -> Node | None:
    """Return the source of an op that may lie between."""
    if node.target not in (*PERMUTE_TARGETS, *_WITH_CONSTANTS) or node.kwargs:
        return None
    source, *others = node.all_input_nodes
    if node.target in PERMUTE_TARGETS:
        return source
    if tensor_constant(module, source) is not None:
        return None
    same = source.meta["val"].shape == node.meta["val"].shape
    known = all(tensor_constant(module, other) is not None for other in others)
    return source if known and same else None


def _dim_before(node: Node, dim: int) -> int:
    """Return the dimension of a node's source for a dimension of its result."""
    if node.target not in PERMUTE_TARGETS:
        return dim
    (source,) = node.all_input_nodes
    shape = [1 + d for d in range(source.meta["val"].dim())]  # sizes identifying the dimensions
    target: Any = node.target
    moved = target(torch.empty(shape, device="meta"), *node.args[1:])
    return int(moved.shape[dim]) - 1


def _reordered(
    module: GraphModule, argument: object, axis: int, op: Node, back: torch.Tensor
) -> object:
    """Return an argument of an op between; a constant with the dimension is reordered."""
    known = tensor_constant(module, argument)
    dim = axis - op.meta["val"].dim()
    if known is None or known.dim() < -dim or known.shape[dim] == 1:
        return argument
    return constant(module, op, "reordered", known.index_select(dim, back))
