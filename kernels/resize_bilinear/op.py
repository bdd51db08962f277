# SPDX-License-Identifier: Apache-2.0
"""pl::resize_bilinear: NHWC, to any size."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import divide_round_half_away
from aot.dialect.library import Inferred, define
from aot.dialect.signature import Activation, Pair


def _infer(input: torch.Tensor, output_size: Sequence[int]) -> Inferred:
    return (input.shape[0], *output_size, input.shape[3]), input.dtype


@define(infer=_infer, shares_quantization=True, averages=True, spatial=True)
def resize_bilinear(
    input: Activation,
    output_size: Pair,
    step: Pair,
    offset: Pair,
    unit: Pair,
) -> torch.Tensor:
    """Return the weighted mean of the four pixels around each position, ties away from zero.

    Along each axis, (height, width), pixel o of the result has the position (o * step + offset) /
    unit, clamped to the input. A position between two pixels weights them by its distances.
    Positions are exact; TFLite's RESIZE_BILINEAR has only 10 bits for them.

    input int8 or int16 [N, H, W, C]; result of its dtype [N, *output_size, C].
    """
    acc = input.to(torch.int64)
    for axis in range(2):
        size, dim = input.shape[1 + axis], 1 + axis
        place = torch.arange(output_size[axis]) * step[axis] + offset[axis]
        place = place.clamp(0, (size - 1) * unit[axis])
        first, weight = place // unit[axis], place % unit[axis]
        weight = weight.reshape([-1 if d == dim else 1 for d in range(4)])
        second = (first + 1).clamp(max=size - 1)
        acc = acc.index_select(dim, first) * (unit[axis] - weight) + (
            acc.index_select(dim, second) * weight
        )
    return divide_round_half_away(acc, torch.tensor(math.prod(unit))).to(input.dtype)
