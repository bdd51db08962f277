# SPDX-License-Identifier: Apache-2.0
"""Exponential, logistic and hyperbolic tangent of TFLite's int8 kernels: gemmlowp's fixed-point
arithmetic, on int64 arrays with int32 values.

A number with k integer bits is its integer divided by 2^(31 - k).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Ints = np.ndarray[Any, np.dtype[np.int64]]

_MIN, _MAX = -(2**31), 2**31 - 1
_ONE = _MAX
_ITERATIONS = 3
# exp(-2^e) with no integer bits, by e.
_EXPONENTIALS = {e: round(float(np.exp(-(2.0**e))) * 2**31) for e in range(-2, 5)}


def _saturated(x: Ints) -> Ints:
    return np.clip(x, _MIN, _MAX)


def multiply(a: Ints, b: Ints | int) -> Ints:
    """Return a * b / 2^31, rounded to nearest, ties up, saturated."""
    return _saturated((a * b + (1 << 30)) >> 31)


def shift_right(x: Ints, bits: int) -> Ints:
    """Return x / 2^bits rounded to nearest, ties away from zero."""
    mask = (1 << bits) - 1
    return (x >> bits) + ((x & mask) > (mask >> 1) + (x < 0))


def _exp_of_small(a: Ints) -> Ints:
    """Return exp of numbers in [-1/4, 0) with no integer bits: a series around -1/8."""
    centre = round(float(np.exp(-0.125)) * 2**31)
    third = round(2**31 / 3)
    x = a + (1 << 28)
    square = multiply(x, x)
    cube, fourth = multiply(square, x), multiply(square, square)
    rest = shift_right(multiply(shift_right(fourth, 2) + cube, third) + square, 1)
    return _saturated(centre + multiply(x + rest, centre))


def exp(a: Ints, integer_bits: int) -> Ints:
    """Return exp of numbers not above 0, with no integer bits."""
    fraction_bits = 31 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    small = (a & (quarter - 1)) - quarter
    result = _exp_of_small(_saturated(small << integer_bits))
    remainder = small - a
    for exponent, factor in _EXPONENTIALS.items():
        if exponent < integer_bits:
            has = (remainder >> (fraction_bits + exponent)) & 1
            result = np.where(has == 1, multiply(result, factor), result)
    return np.where(a == 0, _ONE, result)


def _reciprocal(a: Ints) -> Ints:
    """Return 2 / (1 + a) with 2 integer bits, for a in [0, 1] with none, by Newton's iteration."""
    total = a + _ONE
    half = (total + 1) // 2
    x = round(48 / 17 * 2**29) + multiply(half, -round(32 / 17 * 2**29))
    for _ in range(_ITERATIONS):
        x = x + _saturated(multiply(x, (1 << 29) - multiply(half, x)) << 2)
    return x


def reciprocal(a: Ints) -> Ints:
    """Return 1 / (1 + a) with no integer bits, for a in [0, 1] with none."""
    return _saturated(_reciprocal(a) << 1)


def logistic(a: Ints, integer_bits: int) -> Ints:
    """Return the logistic function, with no integer bits."""
    of_positive = reciprocal(exp(-np.abs(a), integer_bits))
    result = np.where(a > 0, of_positive, _ONE - of_positive)
    return np.where(a == 0, 1 << 30, result)


def tanh(a: Ints, integer_bits: int) -> Ints:
    """Return the logistic function, with no integer bits."""
    e = exp(-np.abs(a), integer_bits + 1)
    of_positive = _saturated((_reciprocal(e) - (1 << 29)) << 2)
    return np.where(a == 0, 0, np.where(a < 0, -of_positive, of_positive))


def input_radius(integer_bits: int, left_shift: int) -> int:
    """Return the magnitude from which inputs exceed the fixed-point range."""
    return int((2**integer_bits - 1) * 2.0 ** (31 - integer_bits) / 2.0**left_shift)
