# SPDX-License-Identifier: Apache-2.0
"""pl::prelu by channel: a DEPTHWISE_CONV2D over the rows [max(x, z); min(x, z)], z the zero point.

The weights of these rows are the slope of 1 and the channel's slope. A slope of 1 above 127 takes
several rows of max(x, z).
"""

from __future__ import annotations

import math

import numpy as np
import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.rescaling import requantized
from aot.backends.ethos_u.equal_forms.row import EqualForm
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu

_MOST_ROWS = 5
_LARGEST_WEIGHT = 127
_RANK = 4


def _matches(npu: Npu, input: torch.Tensor, slope: torch.Tensor, one: int, **_: object) -> bool:
    return (
        input.dtype is torch.int8
        and input.dim() == _RANK
        and not slope.is_meta
        and slope.numel() == input.shape[-1] == slope.shape[-1]
        and -(-one // _LARGEST_WEIGHT) <= _MOST_ROWS
    )


def _emit(
    graph: TosaGraph,
    input: TosaValue,
    slope: torch.Tensor,
    input_zero_point: int,
    one: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> TosaValue:
    channels = input.shape[-1]
    x = graph.reshape(input, (1, 1, math.prod(input.shape[:-1]), channels))
    every = np.arange(-128, 128)
    above = graph.table(x, np.maximum(every, input_zero_point))
    below = graph.table(x, np.minimum(every, input_zero_point))
    copies = -(-one // _LARGEST_WEIGHT)
    rows = [np.full(channels, one // copies + (i < one % copies)) for i in range(copies)]
    weight = np.stack([*rows, slope.numpy().reshape(-1).astype(np.int64)])[:, None, :, None]
    both = graph.concat([above] * copies + [below], 1)
    sums = graph.depthwise_conv2d(both, weight, np.zeros(channels), input_zero_point)
    y = requantized(graph, sums, multiplier, shift, output_zero_point)
    return graph.reshape(y, input.shape)


FORM = EqualForm("prelu_by_depthwise", ("prelu",), _matches, _emit)
