# SPDX-License-Identifier: Apache-2.0
"""Layers with reordered outputs: the order is in a constant, so it costs nothing."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import arguments, calls, tensor_constant

_BY_OUTPUT = ("weight", "bias", "multiplier", "shift")


def in_order(
    module: GraphModule,
    layer: Node,
    order: torch.Tensor,
    known: Mapping[str, torch.Tensor] | None = None,
) -> Mapping[str, torch.Tensor] | None:
    """Return the constants of a layer with reordered outputs; None if it cannot reorder them.

    Args:
      module: of the layer.
      layer: any node.
      order: the index of the present output, for each new one.
      known: constants replacing the layer's own.
    """
    is_dense = calls(layer, "conv2d") and arguments(layer)["groups"] == 1
    if not (is_dense or calls(layer, "linear")):
        return None
    constants: dict[str, torch.Tensor] = {}
    for name in _BY_OUTPUT:
        constant = (known or {}).get(name, tensor_constant(module, arguments(layer)[name]))
        if constant is None:
            return None
        constants[name] = constant[order]
    return constants
