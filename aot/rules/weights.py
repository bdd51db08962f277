# SPDX-License-Identifier: Apache-2.0
"""Constants of convolutions and linear layers: int8 weights, int32 bias, requantization per
channel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch.fx import Node

from aot.dialect.arithmetic import INT32_MAX, quantize_multiplier
from aot.dialect.graph import edge_of, tensor_constant
from aot.errors import LoweringError
from aot.rules.rule import Call

_LARGEST_BIAS = 2**30


@dataclass(frozen=True)
class QuantizedWeights:
    """values int8 [O, ...] in torch's own order; bias, multiplier, shift int32 [O]."""

    values: torch.Tensor
    bias: torch.Tensor
    multiplier: torch.Tensor
    shift: torch.Tensor


def quantize_weights(call: Call, weight: object, bias: torch.Tensor | None) -> QuantizedWeights:
    """Reads the per-channel quantized weight behind a dequantize node and completes the constants.

    Args:
      call: gives the input's and the output's quantization.
      weight: a quantized_decomposed.dequantize_per_channel node over constants.
      bias: float [O], or None.

    Raises:
      LoweringError: an accumulator could overflow int32.
    """
    assert isinstance(weight, Node)
    values, scale = (tensor_constant(call.module, weight.args[i]) for i in (0, 1))
    assert values is not None and scale is not None
    input_scale = edge_of(call.inputs[0]).scale
    wide_scale = scale.to(torch.float64)
    real_bias = torch.zeros(len(values)) if bias is None else bias
    real_bias = real_bias.to(torch.float64)

    # A channel of (nearly) zero weights has a scale so small that its bias would leave int32: give
    # it the smallest scale that holds the bias; what the weights lose is far below one step of the
    # output.
    smallest = real_bias.abs() / (input_scale * _LARGEST_BIAS)
    kept = torch.maximum(wide_scale, smallest)
    shape = [-1] + [1] * (values.dim() - 1)
    values = torch.round(values * (wide_scale / kept).reshape(shape)).to(torch.int8)

    int_bias = torch.round(real_bias / (input_scale * kept)).to(torch.int64)
    # |x - zero_point| <= 255 on every tap; partial sums are bounded by the sum of magnitudes.
    bound = 255 * values.to(torch.int64).abs().flatten(1).sum(dim=1) + int_bias.abs()
    if int(bound.max()) > INT32_MAX:
        raise LoweringError(
            f"{call.node.target} with {math.prod(values.shape[1:])} weights a channel can overflow "
            "its int32 accumulator"
        )
    pairs = [quantize_multiplier(input_scale * float(s) / call.output.scale) for s in kept]
    return QuantizedWeights(
        values,
        int_bias.to(torch.int32),
        torch.tensor([m for m, _ in pairs], dtype=torch.int32),
        torch.tensor([s for _, s in pairs], dtype=torch.int32),
    )
