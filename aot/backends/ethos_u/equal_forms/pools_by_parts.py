# SPDX-License-Identifier: Apache-2.0
"""Pools in other forms.

- A large MAX_POOL2D is one over columns behind one over rows.
- pl::avg_pool2d without padding is a DEPTHWISE_CONV2D with equal weights.
- On U85, maxima of 2 or 4 neighbours of a line are the MAXIMUM of halves of longer channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import INT8, INT32, TosaValue
from aot.backends.ethos_u.emitters import depthwise_conv2d, max_pool2d
from aot.backends.ethos_u.emitters.conv2d import bad_kernel
from aot.backends.ethos_u.emitters.pools import tiles
from aot.backends.ethos_u.emitters.rescaling import ONE
from aot.backends.ethos_u.emitters.resize_bilinear import scale_of
from aot.backends.ethos_u.equal_forms.row import U85, EqualForm
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu

_LEAST_ROWS = 3
_LEAST_AREA = 9
_LARGEST_WEIGHT = 127
_FULL = -128, 127


def _is_large(npu: Npu, kernel: Sequence[int], stride: Sequence[int], **_: object) -> bool:
    return min(kernel) >= _LEAST_ROWS and max(kernel) > _LEAST_ROWS and max(stride) == 1


def _by_rows(
    graph: TosaGraph,
    input: TosaValue,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_size: Sequence[int],
) -> TosaValue:
    rows = [kernel[0], 1], stride, [*padding[:2], 0, 0], dilation, [output_size[0], input.shape[2]]
    columns = [1, kernel[1]], stride, [0, 0, *padding[2:]], dilation, output_size
    return max_pool2d.emit(graph, max_pool2d.emit(graph, input, *rows), *columns)


def _is_average(
    npu: Npu,
    input: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_size: Sequence[int],
    **_: object,
) -> bool:
    area = math.prod(kernel)
    if input.dtype is not torch.int8 or any(padding) or area < _LEAST_AREA:
        return False
    if bad_kernel(kernel, (1, 1)) or tiles(
        input.shape, kernel, stride, padding, output_size, separable=False
    ):
        return False
    scale = scale_of(area)
    return scale is not None and scale[0] <= _LARGEST_WEIGHT


def _by_depthwise(
    graph: TosaGraph,
    input: TosaValue,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_size: Sequence[int],
    count_include_pad: bool,
    divisor_override: int,
    zero_point: int,
) -> TosaValue:
    scale, channels = scale_of(math.prod(kernel)), input.shape[3]
    assert scale is not None  # it matches
    weight = torch.full((*kernel, channels), scale[0], dtype=torch.int8)
    bias, multiplier, shift = (
        torch.full((channels,), v, dtype=torch.int32) for v in (0, *scale[1:])
    )
    window = stride, padding, [1, 1]
    return depthwise_conv2d.emit(
        graph, input, weight, bias, multiplier, shift, *window, 0, 0, *_FULL
    )


def _is_of_halves(
    npu: Npu,
    input: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    **_: object,
) -> bool:
    n, height, width, _channels = input.shape
    return (
        input.dtype is torch.int8
        and n == height == kernel[0] == 1
        and kernel[1] == stride[1] in (2, 4)
        and width % kernel[1] == 0
        and not any(padding)
    )


def _by_halves(graph: TosaGraph, input: TosaValue, kernel: Sequence[int], **_: object) -> TosaValue:
    width, channels = input.shape[2:]
    x, count = input, kernel[1]
    while count > 1:
        half = count * channels // 2
        rows = math.prod(x.shape) // (2 * half)
        x = graph.reshape(x, (1, 1, rows, 2 * half))
        parts = (graph.slice(x, [0, 0, 0, i * half], (1, 1, rows, half)) for i in (0, 1))
        a, b = (graph.rescale(part, *ONE, INT32) for part in parts)
        x = graph.rescale(graph.maximum(a, b), *ONE, INT8)
        count //= 2
    return graph.reshape(x, (1, 1, width // kernel[1], channels))


FORMS = (
    EqualForm("max_pool_by_rows", ("max_pool2d",), _is_large, _by_rows),
    EqualForm("max_pool_by_halves", ("max_pool2d",), _is_of_halves, _by_halves, (U85,)),
    EqualForm("avg_pool_by_depthwise", ("avg_pool2d",), _is_average, _by_depthwise),
)
