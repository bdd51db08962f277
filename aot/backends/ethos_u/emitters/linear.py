# SPDX-License-Identifier: Apache-2.0
"""pl::linear: a 1x1 CONV2D over all rows, RESCALE."""

from __future__ import annotations

import math

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.conv2d import sum_limit
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import in_15_bits, requantized, too_large_sums
from aot.backends.ethos_u.emitters.windows import bad_size
from aot.backends.ethos_u.tosa import TosaGraph


def _rows(shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    return (1, 1, math.prod(shape[:-1]), shape[-1])


def reject(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    **_: int,
) -> str:
    return bad_size((*_rows(tuple(input.shape)), weight.shape[0])) or too_large_sums(
        input, sum_limit(input, weight, bias), multiplier, shift
    )


def emit(
    graph: TosaGraph,
    input: TosaValue,
    weight: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> TosaValue:
    # The rows lie in the width, with a batch of 1: see in_one_row of conv2d.py.
    x = graph.reshape(input, _rows(input.shape))
    sums = graph.conv2d(x, weight[:, None, None, :], bias, input_zero_point)
    limits = activation_min, activation_max
    y = requantized(graph, sums, multiplier, shift, output_zero_point, *limits)
    return graph.reshape(y, (*input.shape[:-1], weight.shape[0]))


EMITTER = Emitter(emit, reject, adapt=in_15_bits)
