# SPDX-License-Identifier: Apache-2.0
"""pl::depthwise_conv2d as TOSA: DEPTHWISE_CONV2D, RESCALE.

- A stride above 3 becomes a divisor of it, and a SLICE takes the wanted results.
- Several results per channel become a CONV2D with 0 for the other weights. Vela 5.1.0
  misplaces values written directly after such a DEPTHWISE_CONV2D.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.conv2d import bad_kernel, sum_limit, windows_of
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import in_15_bits, requantized, too_large_sums
from aot.backends.ethos_u.emitters.slice import emit as strided
from aot.backends.ethos_u.emitters.windows import LARGEST_STRIDE, bad_size, fitted
from aot.backends.ethos_u.tosa import TosaGraph


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
    return (
        bad_kernel(weight.shape[:2], dilation)
        or bad_size(input.shape)
        or too_large_sums(input, sum_limit(input, weight.permute(2, 0, 1), bias), multiplier, shift)
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
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> TosaValue:
    kernel, channels = weight.shape[:2], input.shape[3]
    windows = windows_of(input, kernel, stride, padding, dilation)
    steps = [results_for_one(s) if w > 1 else s for s, w in zip(stride, windows, strict=True)]
    stride = [s // step for s, step in zip(stride, steps, strict=True)]
    every = [(w - 1) * step + 1 for w, step in zip(windows, steps, strict=True)]
    x, pads, strides = fitted(graph, input, kernel, stride, padding, dilation, every)
    window = strides, pads, dilation
    if weight.shape[2] == channels:
        sums = graph.depthwise_conv2d(x, weight[..., None], bias, input_zero_point, *window)
    else:
        sums = graph.conv2d(x, dense(weight, channels), bias, input_zero_point, *window)
    limits = activation_min, activation_max
    y = requantized(graph, sums, multiplier, shift, output_zero_point, *limits)
    for d, step in enumerate(steps):
        if every[d] > 1 and step > 1:
            y = strided(graph, y, 1 + d, 0, every[d], step)
    return y


def results_for_one(stride: int) -> int:
    """Return the number of results that the NPU computes per wanted result."""
    return stride // max(s for s in range(1, LARGEST_STRIDE + 1) if stride % s == 0)


def dense(weight: torch.Tensor, channels: int) -> torch.Tensor:
    """Return weights [KH, KW, O] as [O, KH, KW, channels]."""
    height, width, out = weight.shape
    dense = torch.zeros((out, height, width, channels), dtype=torch.int8)
    results = torch.arange(out)
    dense[results, :, :, results // (out // channels)] = weight.permute(2, 0, 1)
    return dense


EMITTER = Emitter(emit, reject, adapt=in_15_bits)
