# SPDX-License-Identifier: Apache-2.0
"""pl::normalize: LayerNorm, GroupNorm, RMSNorm and similar norms in one op with integers inside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from aot.dialect.arithmetic import bit_length, saturate
from aot.dialect.library import define
from aot.dialect.signature import Activation, Int32
from aot.dialect.transposes import Perm, TransposedValue, Transposes, inverse

MAX_COUNT = 2**18 - 1
"""Largest number of values in a part: the sum of their squares fits uint32."""

MAX_INT16_COUNT = 2**15 - 1
"""The same of int16: count times a deviation fits int32."""

MAX_WEIGHT = 2**31 - 1
MAX_BIAS = 3 * 2**28  # larger values saturate any sum
MAX_NORMALIZED = 30
MAX_OUTPUT_BITS = 20

_ROOT_ITERATIONS = 3
# 1 / sqrt(m) for m in [1/4, 1], in Q30, by a line; its largest relative error is 0.086.
_ROOT_START, _ROOT_SLOPE = 2290076562, 1308569161


def constants(
    count: int,
    centered: bool,
    epsilon: float,
    gain: torch.Tensor,
    offset: torch.Tensor,
    span: int = 255,
    floor: float = 0.0,
    addend: float = 0.0,
) -> tuple[torch.Tensor, torch.Tensor, int, int, int, int, int, int]:
    """Return the constants of pl::normalize.

    Args:
      count: values in a part.
      centered: as the op's.
      epsilon: added to the variance, in squared input steps.
      gain: output steps of a normalized value of 1; float64.
      offset: output steps added; float64, of the same shape.
      span: the largest difference of two values of the input.
      floor: lower bound of the variance's root, in input steps.
      addend: added to the root after that, in input steps.

    Returns:
      weight, bias, epsilon, floor, addend, radicand_shift, normalized_bits, output_bits
    """
    # The radicand is below 2^62. Its shift is even, so that the root's shift is an integer.
    root = max(math.sqrt((span + 1) ** 2 + epsilon), floor) + addend
    radicand_shift = math.floor((61 - 2 * math.log2(count * root)) / 2) * 2
    # A deviation is at most sqrt(count) times the root of the mean square. With one value and no
    # mean it is the root itself. It is also at most the span, times one step.
    least = max(math.sqrt(epsilon), floor) + addend
    reach = min(math.sqrt(count), span / least if least else math.inf)
    normalized_bits = MAX_NORMALIZED - math.ceil(math.log2(reach))
    steps = float(gain.abs().max()) * 2.0 ** (MAX_NORMALIZED - normalized_bits)
    output_bits = 29 - math.ceil(math.log2(steps)) if steps else MAX_OUTPUT_BITS
    output_bits = max(1, min(MAX_OUTPUT_BITS, output_bits))
    weight = torch.round(gain * 2.0 ** (32 + output_bits - normalized_bits))
    bias = torch.round(offset * 2.0**output_bits)
    return (
        weight.clamp(-MAX_WEIGHT, MAX_WEIGHT).to(torch.int32),
        bias.clamp(-MAX_BIAS, MAX_BIAS).to(torch.int32),
        round(count**2 * epsilon * 2.0**radicand_shift),
        round((count * floor) ** 2 * 2.0**radicand_shift),
        round(count * addend * 2.0 ** (radicand_shift // 2)),
        radicand_shift,
        normalized_bits,
        output_bits,
    )


def rsqrt(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return root and shift with 1 / sqrt(x) = root / 2^30 * 2^(shift - 31), for int64 x in [1,
    2^62).

    Newton's iterations from a line; the relative error is below 2^-23.

    Returns:
      (root from 2^30, less the error, to 2^31, shift in [0, 30])
    """
    shift = (62 - bit_length(x)) >> 1
    m = (x << (2 * shift)) >> 31  # Q31, in [1/4, 1)
    y = _ROOT_START - ((_ROOT_SLOPE * m) >> 31)
    for _ in range(_ROOT_ITERATIONS):
        y = (y * ((3 << 30) - ((m * ((y * y) >> 30)) >> 31))) >> 31
    return y, shift


def _split(shape: Sequence[int], parts: Sequence[int]) -> list[int]:
    """Return two dimensions for the parts, and two for the values in a part."""
    pairs = zip(shape, parts, strict=True)
    return [size for whole, count in pairs for size in (count, whole // count)]


def _move(values: Mapping[str, Any], perm: Perm) -> TransposedValue:
    return TransposedValue({"parts": [values["parts"][d] for d in inverse(perm)]}, perm)


@define(transposes=Transposes(("input", "weight", "bias"), _move))
def normalize(
    input: Activation,
    weight: Int32,
    bias: Int32,
    parts: Sequence[int],
    centered: bool,
    epsilon: int,
    floor: int,
    addend: int,
    radicand_shift: int,
    normalized_bits: int,
    output_bits: int,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """Return (x - mean) / (max(sqrt(variance + epsilon), floor) + addend) * weight + bias, by part.

    input int8 or int16 of any shape. Dimension d is cut in parts[d] equal parts. parts[d] is 1 if
    the statistics cover the dimension, and its size if they do not. centered: mean and variance are
    those of a part. Otherwise input_zero_point is the mean, and the variance is about it (RMSNorm).
    weight and bias are int32 of one shape broadcasting to the input's. They and the other numbers
    come from `constants`. Result of the input's dtype.

    Sums, the variance and the mean (an integer and a fraction of the count) are exact. A part's
    common scale and offset are rounded once, relative to 2^-22. A value is then scale * x - offset,
    times weight, plus bias. Before the last rounding, the error is at most 2^-21 of |result -
    bias|, plus 2^(1 - output_bits).

    int16: each value's deviation is multiplied by the root, and rounded to normalized_bits. With an
    addend, the root of the radicand is rounded to an integer before the addition. `constants`
    selects the output_bits, up to 20, by the largest possible value. Parts with a divisor of 0 give
    the bias.
    """
    split = _split(input.shape, parts)
    inside = list(range(1, len(split), 2))
    x = input.to(torch.int64).reshape(split)
    count = math.prod(split[1::2])
    total = x.sum(dim=inside, keepdim=True)
    center = torch.full_like(total, input_zero_point)
    if centered:
        center = torch.div(total, count, rounding_mode="trunc")
    rest = total - count * center if centered else torch.zeros_like(total)
    squares = (x * x).sum(dim=inside, keepdim=True) - center * (2 * total - count * center)
    spread = count * squares - rest * rest  # the variance times count^2
    shifted = spread << radicand_shift if radicand_shift >= 0 else spread >> -radicand_shift
    radicand = (shifted + epsilon).clamp(min=floor) | 1  # avoids the root of 0
    root, shift = rsqrt(radicand)
    if addend:
        whole = ((radicand << (2 * shift)) >> 31) * root >> (30 + shift)
        root, shift = rsqrt((whole + addend) ** 2 | 1)

    # (count * (x - center) - rest) * root has `given` fraction bits more than wanted.
    given = (61 - radicand_shift // 2 - normalized_bits - shift).clamp(min=1, max=62)
    if input.dtype is torch.int16:
        dropped = given
        deviation = count * (x - center) - rest
        normalized = ((deviation * root >> (dropped - 1)) + 1) >> 1
    else:
        # scale stays below 2^23, so that 255 times it fits int32; or below normalized_bits if they
        # are larger.
        dropped = given.clamp(max=count.bit_length() + 8)
        scale = ((count * root >> (dropped - 1)) + 1) >> 1
        offset = scale * center + (((rest * root >> (dropped - 1)) + 1) >> 1)
        normalized = scale * x - offset

    gain, bias = (t.to(torch.int64).expand(input.shape).reshape(split) for t in (weight, bias))
    scaled = (normalized * gain >> 32) >> (given - dropped)
    out = (scaled + bias + (1 << (output_bits - 1))) >> output_bits
    out = out + output_zero_point
    return saturate(out, activation_min, activation_max, input.dtype).reshape(input.shape)
