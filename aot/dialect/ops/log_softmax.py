# SPDX-License-Identifier: Apache-2.0
"""pl::log_softmax: int8 log-softmax over one dimension by a table of exponentials and an integer
logarithm.
"""

from __future__ import annotations

import math

import torch

from aot.dialect.arithmetic import requantize, rounding_shift_right, saturate_int8
from aot.dialect.library import define
from aot.dialect.ops.softmax import exponentials
from aot.dialect.transposes import along_dim

_LOG2_TABLE = torch.tensor([round(65536 * math.log2(1 + i / 128)) for i in range(129)])
DIFFERENCE_SHIFT = 20
GUARD_BITS = 10


def log2_q16(x: torch.Tensor) -> torch.Tensor:
    """log2 of int64 values in [1, 2^32) as Q16: the leading bit's place, then a 128-segment linear
    interpolation.
    """
    n = torch.floor(torch.log2(x.to(torch.float64))).to(torch.int64)
    fraction = (x << (31 - n)) - (1 << 31)
    index = fraction >> 24
    f = (fraction >> 8) & 0xFFFF
    base = _LOG2_TABLE[index]
    slope = _LOG2_TABLE[index + 1] - base
    return (n << 16) + base + ((slope * f + (1 << 15)) >> 16)


def _infer(
    input: torch.Tensor, exp_table: torch.Tensor, dim: int, *_: int
) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(input.shape), torch.int8


@define(
    "Tensor input, Tensor exp_table, int dim, int fraction_bits, int input_multiplier, int "
    "input_shift, "
    "int log_multiplier, int log_shift, int output_zero_point",
    infer=_infer,
    dtypes={"input": (torch.int8,), "exp_table": (torch.int32,)},
    zero_points={"output_zero_point": "output"},
    transposes=along_dim("input"),
)
def log_softmax(
    input: torch.Tensor,
    exp_table: torch.Tensor,
    dim: int,
    fraction_bits: int,
    input_multiplier: int,
    input_shift: int,
    log_multiplier: int,
    log_shift: int,
    output_zero_point: int,
) -> torch.Tensor:
    """(q - max) * input_scale / output_scale - ln(S) / output_scale, S the sum of exponentials
    along dim.

    The two factors are requantize pairs that leave GUARD_BITS fraction bits: input_* for (q - max)
    << 20, log_* for log2(S) in Q16 (they hold ln 2); only their difference is rounded to the
    output's step, ties away from zero. input int8; exp_table int32 [256] with exp_table[0] =
    2^fraction_bits; dim not negative; result int8.
    """
    _, total = exponentials(input, exp_table, dim)
    x = input.to(torch.int64)
    difference = (x - x.amax(dim=dim, keepdim=True)) << DIFFERENCE_SHIFT
    log_sum = log2_q16(total) - (fraction_bits << 16)
    out = requantize(difference, input_multiplier, input_shift)
    out = out - requantize(log_sum, log_multiplier, log_shift)
    return saturate_int8(rounding_shift_right(out, GUARD_BITS) + output_zero_point)
