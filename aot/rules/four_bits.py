# SPDX-License-Identifier: Apache-2.0
"""Layers with weights of four bits, to pl::linear_w4."""

from __future__ import annotations

import torch
from torch.fx import Node

from aot.dialect.graph import Edge, quantization_of
from aot.dialect.quantization import INT4_WEIGHT, MAX_GROUP_SCALE
from aot.dialect.rule import Call, argument, pair
from aot.rules.weights import QuantizedWeights
from kernels.linear.op_w4 import linear_w4, packed

GROUP = 32
"""Input channels of a group."""

_LINEAR, _CONVOLUTION = torch.ops.aten.linear.default, torch.ops.aten.convolution.default


def has_four_bit_form(node: Node) -> bool:
    """Return True if an ATen node is a linear layer, or a pointwise (1x1) convolution."""
    if node.target is not _CONVOLUTION:
        return node.target is _LINEAR
    kernel = node.args[1].meta["val"].shape[2:]  # type: ignore[union-attr]
    one_pixel = all(size == 1 for size in (*kernel, *pair(argument(node, "stride"))))
    inside = not any(pair(argument(node, "padding")))
    plain = not argument(node, "transposed") and argument(node, "groups") == 1
    return one_pixel and inside and plain


def emit_four_bits(call: Call, x: Node, weights: QuantizedWeights, edge: Edge) -> Node:
    """Return the layer of the last dimension of x, with weights [O, K]."""
    values, scales, group = _in_groups(weights.values.flatten(1), weights.is_grouped)
    return call.emit(
        linear_w4,
        x,
        call.constant("weight", packed(values)),
        call.constant("group_scale", scales),
        call.constant("bias", weights.bias),
        call.constant("multiplier", weights.multiplier),
        call.constant("shift", weights.shift),
        group,
        quantization_of(x).zero_point,
        call.output.zero_point,
        *call.activation_range(),
        edge=edge,
    )


def _in_groups(values: torch.Tensor, grouped: bool) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Return weights [O, K] as four bits in int8 [O, K], with scales [O, groups] of `group` weights
    each.
    """
    if not grouped:
        return values, torch.ones(len(values), 1, dtype=torch.int8), values.shape[1]
    depth = values.shape[1]
    groups = torch.nn.functional.pad(values.to(torch.int32), (0, -depth % GROUP))
    groups = groups.unflatten(1, (-1, GROUP))
    limit = INT4_WEIGHT.quant_max
    divisors = groups[..., 0].abs()
    for column in groups.unbind(2):
        divisors = torch.gcd(divisors, column)
    # Small weights whose bias needs a coarser step have lost their common divisor.
    needed = (groups.abs().amax(2) + limit - 1) // limit
    # The common divisor of a few weights may be a multiple of their scale.
    possible = torch.arange(MAX_GROUP_SCALE, 0, -1)
    fits = (divisors[..., None] % possible == 0) & (possible >= needed[..., None])
    is_found = fits.any(-1) & (divisors > 0)
    scales = torch.where(is_found, possible[fits.int().argmax(-1)], needed.clamp(min=1))
    four_bits = torch.round(groups / scales[..., None]).to(torch.int8)
    return four_bits.flatten(1)[:, :depth], scales.to(torch.int8), GROUP
