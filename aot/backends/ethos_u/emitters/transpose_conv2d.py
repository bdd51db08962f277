# SPDX-License-Identifier: Apache-2.0
"""pl::transpose_conv2d as TOSA: TRANSPOSE_CONV2D, RESCALE; groups become weights of 0."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.conv2d import bad_kernel, dense, sum_limit
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import in_15_bits, requantized, too_large_sums
from aot.backends.ethos_u.emitters.windows import bad_size
from aot.backends.ethos_u.tosa import TosaGraph

_LARGEST_STRIDE = 2


def _padding(
    input: TosaValue | torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_size: Sequence[int],
) -> list[int]:
    """Return the padding of the result, before and after its rows and columns."""
    pads = []
    for d in (0, 1):
        size = (input.shape[1 + d] - 1) * stride[d] + kernel[d]
        pads += [-padding[d], output_size[d] - size + padding[d]]
    return pads


def reject(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_size: Sequence[int],
    **_: int,
) -> str:
    kernel = weight.shape[1:3]
    if max(dilation) > 1:
        return f"its dilation is {max(dilation)}: TOSA's transposed convolution has none"
    if stride[0] != stride[1] or stride[0] > _LARGEST_STRIDE:
        return f"its strides are {stride[0]} and {stride[1]}, not both 1 or both 2"
    if stride[0] > 1 and min(output_size) == 1 < max(output_size):
        return "its result is a line"
    pads = _padding(input, kernel, stride, padding, output_size)
    if any(pad <= -kernel[i // 2] or pad >= stride[0] for i, pad in enumerate(pads)):
        return "its result is cut, or goes on, by more than its kernel reaches"
    return (
        bad_kernel(kernel, dilation)
        or bad_size((*input.shape[:1], *output_size, weight.shape[0]))
        or too_large_sums(input, sum_limit(input, weight, bias), multiplier, shift)
    )


def emit(
    graph: TosaGraph,
    input: TosaValue,
    weight: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_size: Sequence[int],
    groups: int,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> TosaValue:
    weight = dense(weight, groups)
    pads = _padding(input, weight.shape[1:3], stride, padding, output_size)
    x = graph.materialized(input)  # Vela 5.1.0 loses a slice before it
    sums = graph.transpose_conv2d(x, weight, bias, input_zero_point, pads, stride, output_size)
    limits = activation_min, activation_max
    return requantized(graph, sums, multiplier, shift, output_zero_point, *limits)


EMITTER = Emitter(
    emit,
    reject,
    adapt=in_15_bits,
    not_int16="its transposed convolutions are of int8",
    int16_on_u85=True,
)
