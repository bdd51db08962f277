# SPDX-License-Identifier: Apache-2.0
"""pl::logsumexp: the logarithm of the sum of exponentials over dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import requantize, rounding_shift_right, saturate_int8
from aot.dialect.library import define, reduced_shape
from aot.dialect.ops.log_softmax import DIFFERENCE_SHIFT, GUARD_BITS, log2_q16
from aot.dialect.transposes import along_dims


def _infer(
    input: torch.Tensor, exp_table: torch.Tensor, dim: Sequence[int], keepdim: bool, *_: int
) -> tuple[tuple[int, ...], torch.dtype]:
    return reduced_shape(input.shape, dim, keepdim), torch.int8


@define(
    "Tensor input, Tensor exp_table, int[] dim, bool keepdim, int input_zero_point, int "
    "fraction_bits, int input_multiplier, int input_shift, int log_multiplier, int log_shift, int "
    "output_zero_point",
    infer=_infer,
    dtypes={"input": (torch.int8,), "exp_table": (torch.int32,)},
    zero_points={"input_zero_point": "input", "output_zero_point": "output"},
    transposes=along_dims("input"),
)
def logsumexp(
    input: torch.Tensor,
    exp_table: torch.Tensor,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    fraction_bits: int,
    input_multiplier: int,
    input_shift: int,
    log_multiplier: int,
    log_shift: int,
    output_zero_point: int,
) -> torch.Tensor:
    """(max - input_zero_point) * input_scale / output_scale + ln(S) / output_scale, S the sum of
    exp_table[max - input] over dim, which are not negative.

    The factors, guard bits and the table are those of pl::log_softmax; the sum of both terms is
    rounded once to the output's step, ties away from zero.
    """
    dims = list(dim)
    x = input.to(torch.int64)
    largest = x.amax(dims, keepdim=True)
    total = exp_table.to(torch.int64)[largest - x].sum(dims, keepdim)
    largest = largest.reshape(total.shape) - input_zero_point
    out = requantize(largest << DIFFERENCE_SHIFT, input_multiplier, input_shift)
    log_sum = log2_q16(total) - (fraction_bits << 16)
    out = out + requantize(log_sum, log_multiplier, log_shift)
    return saturate_int8(rounding_shift_right(out, GUARD_BITS) + output_zero_point)
