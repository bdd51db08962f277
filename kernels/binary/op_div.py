# SPDX-License-Identifier: Apache-2.0
"""pl::div: division with broadcasting."""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import divide_round_half_away, requantize_sums, saturate
from aot.dialect.library import broadcast, define
from aot.dialect.signature import Activation
from aot.dialect.transposes import elementwise

FRACTION_BITS = {torch.int8: 23, torch.int16: 30}
"""Of the quotient: as many as let it be an int32, and of int16 as requantize_wide takes."""


@define(infer=broadcast, transposes=elementwise("a", "b"))
def div(
    a: Activation,
    b: Activation,
    a_zero_point: int,
    b_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """clamp(requantize(q, multiplier, shift) + output_zero_point), where q is (a - a_zero_point) /
    (b - b_zero_point) with FRACTION_BITS fraction bits, rounded to nearest, ties away from zero.

    multiplier and shift hold a_scale / (b_scale * output_scale) / 2^FRACTION_BITS. Before the
    requantization the quotient is off by 2^-8 of the output's step at most where it does not
    saturate. a, b and the result int8 or int16. By zero: the largest or smallest result, as the
    sign of a says; 0 / 0 is 0.
    """
    dividend = a.to(torch.int64) - a_zero_point
    divisor = b.to(torch.int64) - b_zero_point
    quotient = divide_round_half_away(
        (dividend << FRACTION_BITS[a.dtype]) * divisor.sign(), divisor.abs().clamp(min=1)
    )
    infinite = torch.where(dividend < 0, activation_min, activation_max)
    out = requantize_sums(quotient, multiplier, shift, a.dtype) + output_zero_point
    out = torch.where((divisor == 0) & (dividend != 0), infinite, out)
    return saturate(out, activation_min, activation_max, a.dtype)
