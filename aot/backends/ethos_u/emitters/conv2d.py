# SPDX-License-Identifier: Apache-2.0
"""pl::conv2d: CONV2D, RESCALE. Each group is a convolution of its own, with SLICE before it and
CONCAT after it. Thin groups become one convolution with 0 for the other weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import (
    in_15_bits,
    requantized,
    span_of,
    too_large_sums,
)
from aot.backends.ethos_u.emitters.windows import (
    LARGEST_STRIDE,
    bad_size,
    bad_stride,
    fitted,
    folded,
)
from aot.backends.ethos_u.tosa import TosaGraph
from kernels.conv2d.op import convolved_size

_LARGEST_HEIGHT, _LARGEST_AREA = 64, 4096
THIN = 8  # channels that the NPU reads at once


def sum_limit(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return the largest possible magnitude of each channel's sums; weight [O, ...]."""
    sums = weight.flatten(1).to(torch.int64).abs().sum(1)
    return sums * span_of(x) + bias.to(torch.int64).abs()


def bad_kernel(kernel: Sequence[int], dilation: Sequence[int]) -> str:
    height, width = (d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True))
    if height > _LARGEST_HEIGHT or height * width > _LARGEST_AREA:
        return (
            f"its kernel reaches over {height}x{width}, of at most {_LARGEST_HEIGHT} rows and "
            f"{_LARGEST_AREA} in all"
        )
    return ""


def windows_of(
    x: TosaValue | torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> list[int]:
    """Return the rows and columns of the result."""
    return [
        convolved_size(
            x.shape[1 + d], kernel[d], stride[d], padding[2 * d], padding[2 * d + 1], dilation[d]
        )
        for d in (0, 1)
    ]


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
    kernel = weight.shape[1:3]
    windows = windows_of(input, kernel, stride, padding, dilation)
    return (
        bad_kernel(kernel, dilation)
        or bad_stride([s if d > 1 else 1 for s, d in zip(stride, dilation, strict=True)], windows)
        or bad_size(input.shape)
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
    groups: int,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> TosaValue:
    windows = windows_of(input, weight.shape[1:3], stride, padding, dilation)
    shape = (input.shape[0], *windows, weight.shape[0])
    if weight.shape[3] < THIN or max(stride) > LARGEST_STRIDE:
        weight, groups = dense(weight, groups), 1
    input, weight, stride, padding = folded(
        graph, input, weight, stride, padding, dilation, windows, input_zero_point
    )
    width, outputs = weight.shape[3], weight.shape[0] // groups
    kernel = weight.shape[1:3]
    results = []
    for group in range(groups):
        size = (*input.shape[:3], width)
        x = graph.slice(input, [0, 0, 0, group * width], size)
        x, pads, strides = fitted(graph, x, kernel, stride, padding, dilation, windows)
        if tuple(kernel) == (1, 1) and max(strides) == 1 and not any(pads):
            x = in_one_row(graph, x)
        own = slice(group * outputs, (group + 1) * outputs)
        sums = graph.conv2d(x, weight[own], bias[own], input_zero_point, strides, pads, dilation)
        scale, limits = (multiplier[own], shift[own]), (activation_min, activation_max)
        results.append(requantized(graph, sums, *scale, output_zero_point, *limits))
    y = results[0] if groups == 1 else graph.concat(results, 3)
    return graph.reshape(y, shape)


def dense(weight: torch.Tensor, groups: int) -> torch.Tensor:
    """Return grouped weights [O, KH, KW, C / groups] as weights of all channels, [O, KH, KW, C]."""
    outputs, height, columns, width = weight.shape
    result = torch.zeros(outputs, height, columns, groups * width, dtype=weight.dtype)
    for group, part in enumerate(weight.chunk(groups)):
        rows = outputs // groups
        result[group * rows :][:rows, :, :, group * width :][..., :width] = part
    return result


def in_one_row(graph: TosaGraph, x: TosaValue) -> TosaValue:
    """Return x as [1, 1, rows, C] if its batch is above 1.

    Vela 5.1.0 otherwise compiles a TABLE or CLAMP after a 1x1 convolution for another shape.
    """
    if x.shape[0] == 1:
        return x
    return graph.reshape(x, (1, 1, math.prod(x.shape[:-1]), x.shape[-1]))


EMITTER = Emitter(emit, reject, adapt=in_15_bits)
