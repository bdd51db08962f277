# SPDX-License-Identifier: Apache-2.0
"""pl::cumsum: sums of the values up to each along a dimension."""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import requantize, saturate_int8
from aot.dialect.library import define
from aot.dialect.transposes import along_dim


def _infer(input: torch.Tensor, *_: int) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(input.shape), torch.int8


@define(
    "Tensor input, int dim, int input_zero_point, int output_zero_point, int multiplier, int shift",
    infer=_infer,
    dtypes={"input": (torch.int8,)},
    zero_points={"input_zero_point": "input", "output_zero_point": "output"},
    transposes=along_dim("input"),
)
def cumsum(
    input: torch.Tensor,
    dim: int,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """saturate(requantize(s, multiplier, shift) + output_zero_point), s the exact sum of input -
    input_zero_point along dim, which is not negative, up to and with each value.
    """
    sums = (input.to(torch.int64) - input_zero_point).cumsum(dim)
    return saturate_int8(requantize(sums, multiplier, shift) + output_zero_point)
