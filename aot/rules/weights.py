# SPDX-License-Identifier: Apache-2.0
"""Constants of convolutions and linear layers: int8 weights, int32 bias, requantization per
channel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.fx import GraphModule, Node

from aot.dialect.arithmetic import INT32_MAX, quantize_multiplier, quantize_wide_multiplier
from aot.dialect.graph import quantization_of, tensor_constant
from aot.dialect.qdq import quantized_weight
from aot.dialect.quantization import INT4_GROUPS_WEIGHT, INT16, Quantization, QuantizedType
from aot.dialect.rule import Call, argument
from aot.errors import LoweringError

_LARGEST_BIAS = 2**30


@dataclass(frozen=True)
class QuantizedWeights:
    """values int8 [O, ...], else in torch's own order; bias, multiplier, shift int32 [O].

    Attributes:
      type: of the values; grouped four-bit values are int16, multiplied by the group's
        scale.
    """

    values: torch.Tensor
    bias: torch.Tensor
    multiplier: torch.Tensor
    shift: torch.Tensor
    type: QuantizedType

    @property
    def is_grouped(self) -> bool:
        return self.type is INT4_GROUPS_WEIGHT


def channel_axis(node: Node) -> int:
    """Return the axis of an ATen op's weights quantized per channel.

    Weights of a transposed convolution are [I, O / groups, ...]. An output channel has its own
    scale, or shares it with the channels at its position in the other groups. If each group has one
    input channel, the outputs of a group share a scale instead.
    """
    if node.target is not torch.ops.aten.convolution.default or not argument(node, "transposed"):
        return 0
    weight = node.args[1]
    assert isinstance(weight, Node)
    return 0 if weight.meta["val"].shape[0] == argument(node, "groups") else 1


def constant_of(module: GraphModule, node: Node, name: str) -> torch.Tensor | None:
    """Return the constant of an argument such as a bias; None if it is not given."""
    given = argument(node, name)
    constant = tensor_constant(module, given)
    assert given is None or constant is not None, (node, name)
    return constant


def quantize_weights(
    call: Call,
    weight: object,
    bias: torch.Tensor | None,
    arrange: Callable[[torch.Tensor], torch.Tensor] | None = None,
    source: Quantization | None = None,
    result: float | None = None,
) -> QuantizedWeights:
    """Read the per-channel quantized weight of a dequantize node and complete the constants.

    Args:
      call: has the input's and the output's quantization.
      weight: a quantized_decomposed.dequantize_per_channel node over constants.
      bias: float [O], or None.
      arrange: brings the weight's elements to [O, ...] if torch has another order.
      source: quantization of the multiplied value, if it is not the first input.
      result: scale of the result, if it is not the output.

    Raises:
      LoweringError: an accumulator could overflow int32.
    """
    assert isinstance(weight, Node)
    values, quantization = quantized_weight(call.module, weight)
    scales = quantization.scales_like(values)
    if arrange is not None:
        values, scales = arrange(values), arrange(scales)
    scales = scales.flatten(1)[:, 0]
    is_wide = source is None and quantization_of(call.inputs[0]).type is INT16
    source = source or quantization_of(call.inputs[0])
    result = result or call.output.scale
    real_bias = torch.zeros(len(values)) if bias is None else bias
    real_bias = real_bias.to(torch.float64)

    # A channel of (nearly) zero weights has a scale so small that its bias would not fit int32. It
    # gets the smallest scale holding the bias. The loss in the weights is far below one step of the
    # output.
    smallest = real_bias.abs() / (source.scale * _LARGEST_BIAS)
    kept = torch.maximum(scales, smallest)
    shape = [-1] + [1] * (values.dim() - 1)
    values = torch.round(values * (scales / kept).reshape(shape))
    values = values.to(quantization.type.dtype)

    int_bias = torch.round(real_bias / (source.scale * kept)).to(torch.int64)
    # |x - zero_point| on every tap; partial sums are bounded by the sum of magnitudes.
    reach = -source.type.quant_min if source.type.symmetric else source.span
    bound = reach * values.to(torch.int64).abs().flatten(1).sum(dim=1) + int_bias.abs()
    if not is_wide and int(bound.max()) > INT32_MAX:
        raise LoweringError(
            f"{call.node.target} sums {math.prod(values.shape[1:])} products in each channel, "
            "which can overflow its int32 accumulator"
        )
    split = quantize_wide_multiplier if is_wide else quantize_multiplier
    pairs = [split(source.scale * float(s) / result) for s in kept]
    return QuantizedWeights(
        values,
        int_bias.to(torch.int32),
        torch.tensor([m for m, _ in pairs], dtype=torch.int32),
        torch.tensor([s for _, s in pairs], dtype=torch.int32),
        quantization.type,
    )
