# SPDX-License-Identifier: Apache-2.0
"""pl::mean over neighbouring dimensions before the last one, in two forms.

- Columns, then rows: a DEPTHWISE_CONV2D with weights of 1 over the first summed dimensions gives
  int16 sums, another one sums these. No transpose is made.
- One DEPTHWISE_CONV2D over all summed values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from aot.backends.ethos_u.block import INT16, INT32, INT48, TosaValue
from aot.backends.ethos_u.emitters.conv2d import bad_kernel
from aot.backends.ethos_u.emitters.mean import kernel_of, summed
from aot.backends.ethos_u.emitters.rescaling import ONE, requantized, span_of
from aot.backends.ethos_u.equal_forms.row import EqualForm
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu
from aot.dialect.library import reduced_shape

_LEAST = 16  # pixels


def _is_window(npu: Npu, input: torch.Tensor, dim: Sequence[int], **_: object) -> bool:
    _outer, count, inner = summed(input.shape, dim)
    return count > 1 < inner and not bad_kernel(kernel_of(input.shape, dim), (1, 1))


def _is_separable(npu: Npu, input: torch.Tensor, dim: Sequence[int], **_: object) -> bool:
    outer, count, _inner = summed(input.shape, dim)
    height, width = kernel_of(input.shape, dim)
    return (
        _is_window(npu, input, dim)
        and outer == 1
        and input.dtype is torch.int8
        and min(height, width) > 1
        and count > _LEAST
        and height * span_of(input) < 1 << 15
    )


def _by_window(
    graph: TosaGraph,
    input: TosaValue,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> TosaValue:
    outer, _count, inner = summed(input.shape, dim)
    kernel = kernel_of(input.shape, dim)
    x = graph.reshape(input, (outer, *kernel, inner))
    sums = graph.depthwise_conv2d(
        x, np.ones((*kernel, inner, 1)), np.zeros(inner), input_zero_point
    )
    if sums.dtype == INT48:  # multiplied by 15 bits only
        sums = graph.for_rescale(graph.rescale(sums, 1 << 14, 14, INT32))
    y = requantized(graph, sums, multiplier, shift, output_zero_point, dtype=input.dtype)
    return graph.reshape(y, reduced_shape(input.shape, dim, keepdim))


def _by_columns(
    graph: TosaGraph,
    input: TosaValue,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> TosaValue:
    _outer, _count, inner = summed(input.shape, dim)
    height, width = kernel_of(input.shape, dim)
    zeros = np.zeros(inner)
    x = graph.reshape(input, (1, height, width, inner))
    columns = graph.depthwise_conv2d(x, np.ones((height, 1, inner, 1)), zeros, input_zero_point)
    exact = graph.rescale(columns, *ONE, INT16)
    sums = graph.depthwise_conv2d(exact, np.ones((1, width, inner, 1)), zeros, 0)
    sums = graph.for_rescale(graph.rescale(sums, 1 << 14, 14, INT32))
    y = requantized(graph, sums, multiplier, shift, output_zero_point)
    return graph.reshape(y, reduced_shape(input.shape, dim, keepdim))


FORMS = (
    EqualForm("mean_by_columns", ("mean",), _is_separable, _by_columns),
    EqualForm("mean_by_window", ("mean",), _is_window, _by_window),
)
