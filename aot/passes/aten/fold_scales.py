# SPDX-License-Identifier: Apache-2.0
"""matmul(c * linear(x), y) -> matmul(linear(x), y), with c in the layer's weights; likewise
c * matmul(linear(x), y).

What attention divides its scores by, however it is written. Between the layer and the product may
be what moves values. Leaves factors that are not one number, and those of a value, or a layer's
result, that something else reads as well.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.passes.aten.build import constant
from aot.rules.function import is_scalar
from aot.rules.matmul import PRODUCTS
from aot.rules.movement import beneath_movement

_aten = torch.ops.aten
_LINEAR = _aten.linear.default

SCALINGS = (_aten.mul.Tensor, _aten.div.Tensor)


def fold_scales(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many factors went into layers."""
    count = 0
    for product in list(module.graph.nodes):
        if product.target not in PRODUCTS:
            continue
        for side in product.args[:2]:
            assert isinstance(side, Node)
            count += _fold(module, beneath_movement(side))
        if len(product.users) == 1:
            count += _fold(module, next(iter(product.users)))
    return count


def _fold(module: GraphModule, scaling: Node) -> bool:
    """Whether the factor of a multiplication went into a layer that it is of."""
    factor = _factor(module, scaling)
    if factor is None:
        return False
    source = scaling.args[0]
    assert isinstance(source, Node)
    if len(source.users) != 1:
        return False
    sides = source.args[:2] if source.target in PRODUCTS else (source,)
    for side in sides:
        assert isinstance(side, Node)
        layer = beneath_movement(side)
        if layer.target is _LINEAR and len(layer.users) == 1 and len(side.users) == 1:
            _scale(module, layer, factor)
            scaling.replace_all_uses_with(source)
            module.graph.erase_node(scaling)
            return True
    return False


def _factor(module: GraphModule, node: Node) -> float | None:
    if node.target not in SCALINGS or not is_scalar(node.args[1]):
        return None
    number = node.args[1]
    known = tensor_constant(module, number)
    factor = float(number if known is None else known)  # type: ignore[arg-type]
    return 1.0 / factor if node.target is _aten.div.Tensor else factor


def _scale(module: GraphModule, layer: Node, factor: float) -> None:
    for position, argument in enumerate(layer.args[1:], 1):
        known = tensor_constant(module, argument)
        if known is not None:
            with module.graph.inserting_before(layer):
                scaled = constant(module, layer, "scaled", known * factor)
            layer.update_arg(position, scaled)
