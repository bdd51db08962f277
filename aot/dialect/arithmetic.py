# SPDX-License-Identifier: Apache-2.0
"""Integer arithmetic of the dialect: TFLite's int8 quantization specification.

All functions are exact. Tensors are int64 during the computation, so nothing wraps. The results
equal the device's: an int32 accumulator, a 32x32->64 multiply and a rounding shift.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

INT8_MIN, INT8_MAX = -128, 127
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
MIN_SHIFT, MAX_SHIFT = -31, 30
MAX_WIDE_SHIFT = 14


def quantize_multiplier(value: float) -> tuple[int, int]:
    """Split a real multiplier into (multiplier, shift): value = multiplier / 2^31 * 2^shift.

    multiplier is 0 or in [2^30, 2^31) by magnitude; shift in [-31, 30]. Values too small to matter
    become 0 as in TFLite.

    Raises:
      ValueError: the value is not finite, or 2^30 or more.
    """
    if not math.isfinite(value):
        raise ValueError(f"a requantization factor of {value} cannot be represented")
    if value == 0.0:
        return 0, 0
    fraction, shift = math.frexp(abs(value))
    multiplier = round(fraction * 2**31)
    if multiplier == 2**31:
        multiplier //= 2
        shift += 1
    if shift < MIN_SHIFT:
        return 0, 0
    if shift > MAX_SHIFT:
        raise ValueError(f"a requantization factor of {value} is larger than 2^{MAX_SHIFT}")
    return (multiplier if value > 0 else -multiplier), shift


def quantize_wide_multiplier(value: float) -> tuple[int, int]:
    """Return the same for requantize_wide, positive, with a shift of at most 14.

    A larger value becomes the largest one; it saturates int16 as well.
    """
    return quantize_multiplier(min(value, 2.0**MAX_WIDE_SHIFT * (1.0 - 2.0**-31)))


def quantize_mean(value: float, count: int) -> tuple[int, int]:
    """Return (multiplier, shift) from a sum of `count` values to their mean times `value`.

    Like TFLite's int8 MEAN: the multiplier of `value`, divided by count without the remainder.
    multiplier may be below 2^30. The factor's relative error against value / count is below 2^-28.
    It still matters: means are often halfway between two steps.

    Raises:
      ValueError: see quantize_multiplier.
    """
    return divided(*quantize_multiplier(value), count)


def divided(multiplier: int, shift: int, count: int) -> tuple[int, int]:
    """Return the factor of a sum of `count` values from the factor of their mean."""
    bits = min(count.bit_length() - 1, 32, shift - MIN_SHIFT)
    return (multiplier << bits) // count, shift - bits


def requantize(
    x: torch.Tensor, multiplier: torch.Tensor | int, shift: torch.Tensor | int
) -> torch.Tensor:
    """Compute TFLite's MultiplyByQuantizedMultiplier (double rounding), elementwise, on int64
    tensors holding int32 values.

    A left shift saturates; then a saturating rounding doubling high multiply; then a rounding right
    shift, ties away from 0.
    """
    x = x.to(torch.int64)
    least, most = (shift, shift) if isinstance(shift, int) else map(int, torch.aminmax(shift))
    if most > 0:
        x = (x << _at_least_0(shift)).clamp_(INT32_MIN, INT32_MAX)
    if isinstance(multiplier, torch.Tensor):
        multiplier = multiplier.to(torch.int64)
    # Work in place: new memory takes longer than the arithmetic.
    product = (x * multiplier).add_(1 << 30)
    if least >= 0:
        return product.__irshift__(31).clamp_(INT32_MIN, INT32_MAX)
    # Both shifts to the right at once. Ties go up: of negative values a little less than half is
    # added, where anything is.
    right = _at_least_0(-shift)
    away = product >> 63
    if most >= 0:
        away *= right > 0
    product.add_(away, alpha=1 << 31).add_((1 << right) >> 1 << 31).__irshift__(right + 31)
    return product.clamp_(max=INT32_MAX) if most >= 0 else product


def _at_least_0(shift: torch.Tensor | int) -> Any:
    return max(shift, 0) if isinstance(shift, int) else shift.to(torch.int64).clamp(min=0)


def requantize_wide(
    x: torch.Tensor, multiplier: torch.Tensor | int, shift: torch.Tensor | int
) -> torch.Tensor:
    """Return x * multiplier / 2^31 * 2^shift rounded once, to nearest, ties up, elementwise.

    For sums of int16 values, because they exceed int32. x is int64 below 2^47 by magnitude;
    multiplier is not negative; shift is in [-31, 14].
    """
    multiplier = torch.as_tensor(multiplier, dtype=torch.int64)
    right = 15 - torch.as_tensor(shift, dtype=torch.int64)
    # Multiply in two halves: the product may take 78 bits.
    product = (x >> 16) * multiplier + (((x & 0xFFFF) * multiplier) >> 16)
    return (product + (torch.ones_like(right) << (right - 1))) >> right


def sums_multiplier(value: float, dtype: torch.dtype) -> tuple[int, int]:
    """Return the multiplier and shift for requantize_sums."""
    split = quantize_wide_multiplier if dtype is torch.int16 else quantize_multiplier
    return split(value)


def requantize_sums(
    x: torch.Tensor,
    multiplier: torch.Tensor | int,
    shift: torch.Tensor | int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Requantize sums of products to a dtype: int8 sums fit in int32, int16 sums do not."""
    rule = requantize_wide if dtype is torch.int16 else requantize
    return rule(x, multiplier, shift)


def rounding_shift_right(x: torch.Tensor, bits: torch.Tensor | int) -> torch.Tensor:
    """Return x / 2^bits rounded to nearest, ties away from zero, on int64 in [-2^62, 2^62].

    This is gemmlowp's RoundingDivideByPOT.
    """
    bits = torch.as_tensor(bits, dtype=torch.int64)
    half = (torch.ones_like(bits) << bits) >> 1
    # Ties go up: of negative values a little less than half is added, where anything is.
    away = (x >> 63).bitwise_and(half.clamp(max=1).neg()).add_(x).add_(half)
    return away.__irshift__(bits)


def divide_round_half_away(numerator: torch.Tensor, denominator: torch.Tensor) -> torch.Tensor:
    """Return numerator / denominator (> 0) rounded to nearest, ties away from zero, on int64."""
    magnitude = (2 * numerator.abs() + denominator) // (2 * denominator)
    return torch.where(numerator < 0, -magnitude, magnitude)


def bit_length(x: torch.Tensor) -> torch.Tensor:
    """Return the number of bits of int64 values in [0, 2^63): 0 of 0, 1 of 1, 2 of 2 and 3, ..."""
    high = x >> 32
    halves = torch.where(high > 0, high, x).to(torch.float64)  # below 2^32: exact
    return torch.frexp(halves).exponent.to(torch.int64) + 32 * (high > 0)


def saturate_int8(
    x: torch.Tensor, minimum: int = INT8_MIN, maximum: int = INT8_MAX
) -> torch.Tensor:
    """Clamp to [minimum, maximum] and narrows to int8."""
    return x.clamp(minimum, maximum).to(torch.int8)


def saturate(x: torch.Tensor, minimum: int, maximum: int, dtype: torch.dtype) -> torch.Tensor:
    """Clamp to [minimum, maximum] and narrow to a dtype holding them."""
    return x.clamp(minimum, maximum).to(dtype)


def exact_conv2d(
    x: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> torch.Tensor:
    """Return an exact integer convolution without padding, of x in NCHW and weight in OIHW.

    float64 holds every sum of products exactly (below 2^53), and torch convolves float64 fast.
    """
    out = torch.nn.functional.conv2d(
        x.to(torch.float64),
        weight.to(torch.float64),
        stride=list(stride),
        dilation=list(dilation),
        groups=groups,
    )
    return out.to(torch.int64)


def exact_depthwise_conv2d(
    x: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    dilation: Sequence[int],
    largest: int,
) -> torch.Tensor:
    """Return the exact integer convolution of each channel by itself, without padding.

    x is NHWC with values up to `largest`; weight is int8 [KH, KW, C]. Like exact_conv2d, it uses
    float32 if that holds every sum. It works tap by tap: torch's own in float64 takes ten times as
    long.
    """
    kh, kw, channels = weight.shape
    fits = kh * kw * largest * -INT8_MIN <= 2**24
    kind = torch.float32 if fits else torch.float64
    (y_step, x_step), (y_apart, x_apart) = stride, dilation
    height = (x.shape[1] - y_apart * (kh - 1) - 1) // y_step + 1
    width = (x.shape[2] - x_apart * (kw - 1) - 1) // x_step + 1
    values, taps = x.to(kind), weight.to(kind)
    out = torch.zeros((len(x), height, width, channels), dtype=kind)
    for ky in range(kh):
        rows = values[:, ky * y_apart :: y_step][:, :height]
        for kx in range(kw):
            out.addcmul_(rows[:, :, kx * x_apart :: x_step][:, :, :width], taps[ky, kx])
    return out.to(torch.int64)


def pad_spatial(x: torch.Tensor, padding: Sequence[int], value: int) -> torch.Tensor:
    """Pad H and W of an NCHW tensor; padding is (top, bottom, left, right)."""
    top, bottom, left, right = padding
    return torch.nn.functional.pad(x, (left, right, top, bottom), value=value)
