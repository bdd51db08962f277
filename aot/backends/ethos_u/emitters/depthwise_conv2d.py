# SPDX-License-Identifier: Apache-2.0
"""pl::depthwise_conv2d: DEPTHWISE_CONV2D, RESCALE; with several results a channel a CONV2D whose
other weights are 0, since Vela 5.1.0 loses the place of what is written right behind the former.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.backends.ethos_u.emitters.conv2d import bad_kernel, sum_limit, windows_of
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import requantized, too_large
from aot.backends.ethos_u.emitters.windows import bad_size, bad_stride, fitted
from aot.backends.ethos_u.tosa import TosaGraph, Value


def reject(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    **_: int,
) -> str:
    kernel = weight.shape[:2]
    return (
        bad_kernel(kernel, dilation)
        or bad_stride(stride, windows_of(input, kernel, stride, padding, dilation))
        or bad_size(input.shape)
        or too_large(sum_limit(weight.permute(2, 0, 1), bias), multiplier, shift)
    )


def emit(
    graph: TosaGraph,
    input: Value,
    weight: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> Value:
    kernel, channels = weight.shape[:2], input.shape[3]
    windows = windows_of(input, kernel, stride, padding, dilation)
    x, pads, strides = fitted(graph, input, kernel, stride, padding, dilation, windows)
    window = strides, pads, dilation
    if weight.shape[2] == channels:
        sums = graph.depthwise_conv2d(x, weight[..., None], bias, input_zero_point, *window)
    else:
        sums = graph.conv2d(x, _dense(weight, channels), bias, input_zero_point, *window)
    limits = activation_min, activation_max
    return requantized(graph, sums, multiplier, shift, output_zero_point, *limits)


def _dense(weight: torch.Tensor, channels: int) -> torch.Tensor:
    """[KH, KW, O] as [O, KH, KW, channels]."""
    height, width, out = weight.shape
    dense = torch.zeros((out, height, width, channels), dtype=torch.int8)
    results = torch.arange(out)
    dense[results, :, :, results // (out // channels)] = weight.permute(2, 0, 1)
    return dense


EMITTER = Emitter(emit, reject)
