# SPDX-License-Identifier: Apache-2.0
"""matmul(c * linear(x), y) -> matmul(linear(x), y), with c in the layer's weights; likewise c *
matmul(linear(x), y), and c * linear(x) or c * conv(x) if c has a number for each channel.

This covers attention's scale factor in any form, and the layer scale of ConvNeXt. Data movement may
lie between the layer and the product. Leaves other factors, and single numbers outside of products.
Also leaves factors of a value, or of a layer's result, with other readers.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.passes.aten.build import constant
from aot.rules.function import is_scalar
from aot.rules.matmul import PRODUCTS
from aot.rules.movement import beneath_movement

_aten = torch.ops.aten
_LINEAR, _CONV = _aten.linear.default, _aten.convolution.default

SCALINGS = (_aten.mul.Tensor, _aten.div.Tensor)


def fold_scales(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many factors went into layers."""
    count = 0
    for product in list(module.graph.nodes):
        if product.target is _aten.mul.Tensor:
            count += _fold_channels(module, product)
        if product.target not in PRODUCTS:
            continue
        for side in product.args[:2]:
            assert isinstance(side, Node)
            count += _fold(module, beneath_movement(side))
        if len(product.users) == 1:
            count += _fold(module, next(iter(product.users)))
    return count


def _fold(module: GraphModule, scaling: Node) -> bool:
    """Return True if a multiplication's factor was folded into its layer."""
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


def _fold_channels(module: GraphModule, scaling: Node) -> bool:
    """Return True if a multiplication by a constant per channel was folded into its layer."""
    for layer, other in (scaling.args[:2], scaling.args[1::-1]):
        factors = tensor_constant(module, other)
        if factors is None or factors.numel() == 1 or not isinstance(layer, Node):
            continue
        if not _is_layer(module, layer) or len(layer.users) != 1:
            continue
        channels = -1 if layer.target is _LINEAR else 1
        shape = [1] * layer.meta["val"].dim()
        shape[channels] = factors.numel()
        same_rank = [1] * (len(shape) - factors.dim()) + list(factors.shape)
        if same_rank == shape and shape[channels] == layer.meta["val"].shape[channels]:
            _scale(module, layer, factors.flatten())
            scaling.replace_all_uses_with(layer)
            module.graph.erase_node(scaling)
            return True
    return False


def _is_layer(module: GraphModule, node: Node) -> bool:
    """Return True if a node is a layer whose weights have the output channels first."""
    if node.target is not _LINEAR and (node.target is not _CONV or node.args[6]):
        return False
    return tensor_constant(module, node.args[1]) is not None


def _factor(module: GraphModule, node: Node) -> float | None:
    if node.target not in SCALINGS or not is_scalar(node.args[1]):
        return None
    number = node.args[1]
    known = tensor_constant(module, number)
    factor = float(number if known is None else known)  # type: ignore[arg-type]
    return 1.0 / factor if node.target is _aten.div.Tensor else factor


def _scale(module: GraphModule, layer: Node, factor: Any) -> None:
    """Scale a layer's result by a number, or by one for each channel."""
    for position, argument in enumerate(layer.args[1:3], 1):
        known = tensor_constant(module, argument)
        if known is not None:
            is_vector = isinstance(factor, torch.Tensor)
            by = factor.reshape(-1, *[1] * (known.dim() - 1)) if is_vector else factor
            with module.graph.inserting_before(layer):
                scaled = constant(module, layer, "scaled", known * by)
            layer.update_arg(position, scaled)
