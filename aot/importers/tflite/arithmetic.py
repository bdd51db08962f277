# SPDX-License-Identifier: Apache-2.0
"""Conversion of TFLite's scales to the integers of its kernels."""

from __future__ import annotations

import math

import numpy as np
import torch

from aot.dialect.arithmetic import MAX_SHIFT, MAX_WIDE_SHIFT, MIN_SHIFT, requantize, saturate
from aot.dialect.quantization import INT8, Quantization

_LARGEST_FOR_16_BITS = 0x7FFF0000
ADD_GUARD_BITS = {torch.int8: 20, torch.int16: 15}


def float32(value: float) -> float:
    """Return the value rounded to float32; infinite if it is out of range."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def quantize_multiplier(value: float) -> tuple[int, int]:
    """Return TFLite's QuantizeMultiplier: like the dialect's, but ties round away from zero.

    A value that is too large saturates.

    Raises:
      ValueError: the value is not finite, or not positive.
    """
    if not 0.0 < value < math.inf:
        raise ValueError(f"scales give a factor of {value}")
    fraction, shift = math.frexp(value)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier //= 2
        shift += 1
    if shift < MIN_SHIFT:
        return 0, 0
    return (2**31 - 1, MAX_SHIFT) if shift > MAX_SHIFT else (multiplier, shift)


def sums_multiplier(value: float, dtype: torch.dtype) -> tuple[int, int]:
    """Return the multiplier and shift of sums of products.

    Sums of int16 values are 64 bits wide. For these TFLite rounds the multiplier to 16 bits.

    Raises:
      ValueError: as quantize_multiplier; or it is too large for int16.
    """
    multiplier, shift = quantize_multiplier(value)
    if dtype is not torch.int16:
        return multiplier, shift
    if shift > MAX_WIDE_SHIFT:
        raise ValueError(f"scales give a factor of {value}, too large for int16")
    high = (multiplier + 2**15) >> 16 if multiplier < _LARGEST_FOR_16_BITS else 0x7FFF
    return high << 16, shift


def mean_multiplier(value: float, count: int) -> tuple[int, int]:
    """Return the multiplier and shift from a sum of `count` values to their mean times `value`.

    The count is folded into the multiplier.

    Raises:
      ValueError: as quantize_multiplier.
    """
    multiplier, shift = quantize_multiplier(value)
    bits = min(count.bit_length() - 1, 32, shift - MIN_SHIFT)
    return (multiplier << bits) // count, shift - bits


def nearest(value: float, of: Quantization) -> int:
    """Return the integer for a real number in float32.

    Ties are rounded away from zero; no saturation.
    """
    steps = float(np.float32(value) / np.float32(of.scale))
    return of.zero_point + int(math.copysign(math.floor(abs(steps) + 0.5), steps))


_LIMITS: dict[str, tuple[float | None, float | None]] = {
    "NONE": (None, None),
    "RELU": (0.0, None),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
}
ACTIVATIONS = tuple(_LIMITS)


def activation_range(activation: str, of: Quantization) -> tuple[int, int]:
    """Return the integers within a fused activation.

    Raises:
      ValueError: there is no such activation here.
    """
    if activation not in _LIMITS:
        raise ValueError(
            f"fused activation {activation} is not supported; choices: {', '.join(ACTIVATIONS)}"
        )
    low, high = _LIMITS[activation]
    kind = of.type
    return (
        kind.quant_min if low is None else max(kind.quant_min, nearest(low, of)),
        kind.quant_max if high is None else min(kind.quant_max, nearest(high, of)),
    )


def add_factors(
    a: Quantization, b: Quantization, out: Quantization, sign: int
) -> tuple[tuple[int, int], tuple[int, int], int, tuple[int, int]]:
    """Return the factors of an addition, or of a subtraction if sign is -1.

    They are: multiplier and shift of a, those of b, the guard bits between, and those of the
    result.

    pl::add subtracts with a negative multiplier of b. TFLite rounds first and then negates; ties
    differ. The selected multiplier gives the fewest different integers of b. For int8 all results
    are tested, and must be equal. For int16 a few results may differ by 1.

    Raises:
      ValueError: results of int8 differ.
    """
    twice = 2.0 * max(a.scale, b.scale)
    bits = ADD_GUARD_BITS[out.type.dtype]
    of_a, of_b = quantize_multiplier(a.scale / twice), quantize_multiplier(b.scale / twice)
    of_out = quantize_multiplier(twice / ((1 << bits) * out.scale))
    if sign > 0:
        return of_a, of_b, bits, of_out
    every = (b.every_value().to(torch.int64) - b.zero_point) << bits
    wanted = -requantize(every, *of_b)
    tried = {-of_b[0]: requantize(every, -of_b[0], of_b[1])}
    if not torch.equal(tried[-of_b[0]], wanted):
        for step in (1, -1):
            tried[-of_b[0] + step] = requantize(every, -of_b[0] + step, of_b[1])
    multiplier = min(tried, key=lambda m: int((tried[m] != wanted).sum()))
    if out.type is INT8 and not torch.equal(tried[multiplier], wanted):
        left = requantize((a.every_value().to(torch.int64) - a.zero_point) << bits, *of_a)[:, None]
        sums = [requantized(left + right, of_out, out) for right in (tried[multiplier], wanted)]
        if not torch.equal(*sums):
            raise ValueError(
                f"no factor subtracts the scale {b.scale} from {a.scale} as TFLite does"
            )
    return of_a, (multiplier, of_b[1]), bits, of_out


def requantized(values: torch.Tensor, factor: tuple[int, int], of: Quantization) -> torch.Tensor:
    """Return integers times a factor, saturated to a quantization."""
    out = requantize(values, *factor) + of.zero_point
    return saturate(out, of.type.quant_min, of.type.quant_max, of.type.dtype)
