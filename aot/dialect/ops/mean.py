# SPDX-License-Identifier: Apache-2.0
"""pl::mean: int8 sum or mean over dimensions, requantized."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import requantize, saturate_int8
from aot.dialect.library import define, reduced_shape
from aot.dialect.transposes import along_dims


def _infer(
    input: torch.Tensor, dim: Sequence[int], keepdim: bool, *_: int
) -> tuple[tuple[int, ...], torch.dtype]:
    return reduced_shape(input.shape, dim, keepdim), torch.int8


@define(
    "Tensor input, int[] dim, bool keepdim, int input_zero_point, int output_zero_point, int "
    "multiplier, int shift",
    infer=_infer,
    dtypes={"input": (torch.int8,)},
    zero_points={"input_zero_point": "input", "output_zero_point": "output"},
    transposes=along_dims("input"),
)
def mean(
    input: torch.Tensor,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """saturate(requantize(sum (x - input_zero_point), multiplier, shift) + output_zero_point).
    TFLite int8 MEAN.

    dim are not negative; multiplier and shift hold input_scale / (output_scale * count), as
    arithmetic.quantize_mean splits it. For a sum they leave the count out.
    """
    acc = (input.to(torch.int64) - input_zero_point).sum(dim=list(dim), keepdim=keepdim)
    return saturate_int8(requantize(acc, multiplier, shift) + output_zero_point)
