# SPDX-License-Identifier: Apache-2.0
"""pl::ethos_u_div: products with reciprocals, which tables have as 15 bits and a shift."""

from __future__ import annotations

import numpy as np
import torch

from aot.backends.ethos_u.block import INT16, INT32, Array
from aot.backends.ethos_u.steps import Integers, Steps, T, scale32
from aot.dialect.arithmetic import saturate
from aot.dialect.library import broadcast, define
from aot.dialect.signature import Int8
from kernels.binary.op_div import FRACTION_BITS

_ONE = scale32(1.0)
_TOP = 32767
_MOST_BITS = 7  # by which reciprocals of small numbers are shifted more than those of large ones
_INDEX_SCALE = 128.0
_BEYOND = 1024
"""More than all steps of int8, which a division by zero adds."""


def _tables() -> tuple[Array, Array, Array]:
    """By divisors from -256 to 256: reciprocals, shifts, and where a divisor is 0."""
    divisors = np.arange(-256, 257)
    size = np.maximum(np.abs(divisors), 1)
    bits = np.floor(np.log2(size))
    reciprocals = np.sign(divisors) * np.round(_TOP * 2.0**bits / size)
    return reciprocals, np.maximum(_MOST_BITS - bits, 0), np.where(divisors == 0, _BEYOND, 0)


_RECIPROCALS, _SHIFTS, _ZEROS = _tables()


def factor_of(multiplier: int, shift: int) -> float:
    """Steps of the output that a quotient of 1 is."""
    return multiplier / 2.0**31 * 2.0 ** (shift + FRACTION_BITS[torch.int8])


def div_steps(
    steps: Steps[T],
    a: T,
    b: T,
    a_zero_point: int,
    b_zero_point: int,
    factor: float,
) -> T:
    """The quotient in steps of the output, int32 in int16's range, without zero point and limits.

    With v = b - b_zero_point and 2^e <= |v| < 2^(e + 1): (a - a_zero_point) times the sign of v and
    round(32767 * 2^e / |v|), shifted left by 7 - e, times the factor, rounded once. The reciprocal
    is off by 2^-15 of it at most. By zero: beyond all that int8 holds, as the sign of a says.
    """
    index = steps.rescale(b, *scale32(_INDEX_SCALE), INT16, input_zero_point=b_zero_point)
    reciprocal, shift, zero = (
        steps.rescale(steps.table(index, table), *scale32(2.0**-7), dtype)
        for table, dtype in ((_RECIPROCALS, INT16), (_SHIFTS, INT32), (_ZEROS, INT16))
    )
    dividend = steps.rescale(a, *_ONE, INT16, input_zero_point=a_zero_point)
    wide = steps.rescale(dividend, *_ONE, INT32), steps.rescale(reciprocal, *_ONE, INT32)
    quotient = steps.shift_left(steps.mul(*wide), shift)
    scaled = steps.rescale(quotient, *scale32(factor / (_TOP << _MOST_BITS)), INT16)
    sign = steps.clamp(dividend, -1, 1)
    infinite = steps.mul(steps.rescale(sign, *_ONE, INT32), steps.rescale(zero, *_ONE, INT32))
    beyond = steps.rescale(infinite, *_ONE, INT16)
    return steps.add(steps.rescale(scaled, *_ONE, INT32), steps.rescale(beyond, *_ONE, INT32))


@define(infer=broadcast)
def ethos_u_div(
    a: Int8,
    b: Int8,
    a_zero_point: int,
    b_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """As `div_steps` has it; arguments and result as of pl::div of int8."""
    factor = factor_of(multiplier, shift)
    y = div_steps(Integers(), a, b, a_zero_point, b_zero_point, factor)
    return saturate(y + output_zero_point, activation_min, activation_max, torch.int8)
