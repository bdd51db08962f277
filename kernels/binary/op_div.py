# SPDX-License-Identifier: Apache-2.0
"""pl::div: division with broadcasting."""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import divide_round_half_away, requantize_sums, saturate
from aot.dialect.library import broadcast, define
from aot.dialect.signature import Activation
from aot.dialect.transposes import elementwise

FRACTION_BITS = {torch.int8: 23, torch.int16: 30}
"""Fraction bits of the quotient: they fit int32, and for int16 the range of requantize_wide."""


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
    """Return clamp(requantize(q, multiplier, shift) + output_zero_point).

    q is (a - a_zero_point) / (b - b_zero_point) with FRACTION_BITS fraction bits, rounded to
    nearest, ties away from zero. multiplier and shift hold a_scale / (b_scale * output_scale) /
    2^FRACTION_BITS.

    Before the requantization, the quotient's error is at most 2^-8 of the output's step, unless it
    saturates. a, b and the result are int8 or int16. Division by zero gives the largest or smallest
    result, by the sign of a; 0 / 0 is 0.
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
