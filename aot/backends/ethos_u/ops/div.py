# SPDX-License-Identifier: Apache-2.0
"""pl::ethos_u_div: products with reciprocals; tables hold these as 15 bits and a shift."""

from __future__ import annotations

import numpy as np
import torch

from aot.backends.ethos_u.block import INT16, INT32, Array
from aot.backends.ethos_u.steps import IntegerSteps, T, TosaSteps, scale32
from aot.dialect.arithmetic import saturate
from aot.dialect.library import broadcast, define
from aot.dialect.signature import Int8
from kernels.binary.op_div import FRACTION_BITS

_ONE = scale32(1.0)
_TOP = 32767
_MOST_BITS = 7  # extra shift of small numbers' reciprocals over large numbers'
_INDEX_SCALE = 128.0
_BEYOND = 1024
"""Added by a division by zero: more than all steps of int8."""


def _tables() -> tuple[Array, Array, Array]:
    """Return, for divisors from -256 to 256: reciprocals, shifts, and marks of divisor 0."""
    divisors = np.arange(-256, 257)
    size = np.maximum(np.abs(divisors), 1)
    bits = np.floor(np.log2(size))
    reciprocals = np.sign(divisors) * np.round(_TOP * 2.0**bits / size)
    return reciprocals, np.maximum(_MOST_BITS - bits, 0), np.where(divisors == 0, _BEYOND, 0)


_RECIPROCALS, _SHIFTS, _ZEROS = _tables()


def factor_of(multiplier: int, shift: int) -> float:
    """Return the output steps of a quotient of 1."""
    return multiplier / 2.0**31 * 2.0 ** (shift + FRACTION_BITS[torch.int8])


def div_steps(
    steps: TosaSteps[T],
    a: T,
    b: T,
    a_zero_point: int,
    b_zero_point: int,
    factor: float,
) -> T:
    """Return the quotient in output steps, int32 in int16's range, without zero point and limits.

    Let v = b - b_zero_point and 2^e <= |v| < 2^(e + 1). The quotient is the product of:

    - (a - a_zero_point) and the sign of v,
    - round(32767 * 2^e / |v|), shifted left by 7 - e,
    - the factor.

    It is rounded once. The reciprocal's relative error is at most 2^-15. A division by zero gives a
    value beyond int8, with the sign of a.
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
    """Compute `div_steps` with arguments and result of pl::div, for int8."""
    factor = factor_of(multiplier, shift)
    y = div_steps(IntegerSteps(), a, b, a_zero_point, b_zero_point, factor)
    return saturate(y + output_zero_point, activation_min, activation_max, torch.int8)
