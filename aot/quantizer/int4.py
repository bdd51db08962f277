# SPDX-License-Identifier: Apache-2.0
"""Four-bit weights: the layers that can have them, and the groups with one scale.

A group's scale is a multiple of a step of its output channel. torchao's graph therefore holds the
weights as multiples of that step: they are rounded before the graph is made.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.quantization import (
    INT4_GROUPS_WEIGHT,
    INT4_WEIGHT,
    INT8_WEIGHT,
    MAX_GROUP_SCALE,
)
from aot.rules.four_bits import GROUP

_SMALLEST = 1e-30  # lower bound of a channel's largest weight, for channels of zeros


def rounded_to_groups(weight: torch.Tensor) -> torch.Tensor:
    """Return float weights [O, ...] rounded to four bits, with a scale for every GROUP weights of
    an output channel.
    """
    matrix = weight.flatten(1)
    depth = matrix.shape[1]
    groups = torch.nn.functional.pad(matrix, (0, -depth % GROUP)).unflatten(1, (-1, GROUP))
    largest = groups.abs().amax(2, keepdim=True)
    step = largest.amax(1, keepdim=True).clamp(min=_SMALLEST) / INT4_GROUPS_WEIGHT.quant_max
    limit = INT4_WEIGHT.quant_max
    scale = (largest / (limit * step)).ceil().clamp(1, MAX_GROUP_SCALE) * step
    rounded: torch.Tensor = (groups / scale).round().clamp(-limit, limit) * scale
    return rounded.flatten(1)[:, :depth].reshape(weight.shape)


def rounded_to_eight_bits(weight: torch.Tensor) -> torch.Tensor:
    """Return the weights rounded to int8, with a scale for every output channel."""
    largest = weight.flatten(1).abs().amax(1).clamp(min=_SMALLEST)
    scale = (largest / INT8_WEIGHT.quant_max).reshape(-1, *[1] * (weight.dim() - 1))
    return (weight / scale).round() * scale


def round_weights(module: GraphModule, layer: Node) -> None:
    """Replace the weights of a layer of an ATen graph by weights rounded to groups."""
    source = layer.args[1]
    weight = tensor_constant(module, source)
    assert isinstance(source, Node) and weight is not None
    name = f"{layer.name}_weight_in_groups"
    module.register_buffer(name, rounded_to_groups(weight))
    with module.graph.inserting_before(layer):
        rounded = module.graph.get_attr(name)
    rounded.meta = dict(source.meta)
    layer.update_arg(1, rounded)
