# SPDX-License-Identifier: Apache-2.0
"""pl::cumsum: sums of the values up to each along a dimension."""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import requantize, saturate_int8
from aot.dialect.library import define
from aot.dialect.transposes import along_dim


def guard_bits(count: int) -> int:
    """As many as let a sum of so many values be an int32 with them."""
    return 22 - (count - 1).bit_length()


def _infer(input: torch.Tensor, *_: int) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(input.shape), torch.int8


@define(
    "Tensor input, int dim, int left_shift, int input_zero_point, int output_zero_point, int "
    "multiplier, int shift",
    infer=_infer,
    dtypes={"input": (torch.int8,)},
    zero_points={"input_zero_point": "input", "output_zero_point": "output"},
    transposes=along_dim("input"),
)
def cumsum(
    input: torch.Tensor,
    dim: int,
    left_shift: int,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """saturate(requantize(s << left_shift, multiplier, shift) + output_zero_point), s the exact sum
    of input - input_zero_point along dim, which is not negative, up to and with each value.

    left_shift is guard bits, `guard_bits` of the size of dim: the result is rounded once.
    """
    sums = (input.to(torch.int64) - input_zero_point).cumsum(dim)
    return saturate_int8(requantize(sums << left_shift, multiplier, shift) + output_zero_point)
