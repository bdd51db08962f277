# SPDX-License-Identifier: Apache-2.0
"""pl::linear_w4: pl::linear with the weights times the scales of their groups, if they fit int8.
Vela packs weights with few distinct values as tightly as four bits.
"""

from __future__ import annotations

from typing import Any

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters import linear
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.tosa import TosaGraph
from kernels.linear.op_w4 import unpacked

_LARGEST = 127


def _weights(depth: int, weight: torch.Tensor, group_scale: torch.Tensor, group: int) -> Any:
    scale = group_scale.to(torch.int32).repeat_interleave(group, 1)[:, :depth]
    return unpacked(weight, depth).to(torch.int32) * scale


def reject(
    input: torch.Tensor,
    weight: torch.Tensor,
    group_scale: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    group: int,
    **_: int,
) -> str:
    weights = _weights(input.shape[-1], weight, group_scale, group)
    if int(weights.abs().max()) > _LARGEST:
        return "its weights times the scales of their groups take more than 8 bits"
    return linear.reject(input, weights, bias, multiplier, shift)


def emit(
    graph: TosaGraph,
    input: TosaValue,
    weight: torch.Tensor,
    group_scale: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    group: int,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> TosaValue:
    weights = _weights(input.shape[-1], weight, group_scale, group)
    points = input_zero_point, output_zero_point
    limits = activation_min, activation_max
    return linear.emit(graph, input, weights, bias, multiplier, shift, *points, *limits)


EMITTER = Emitter(emit, reject)
