# SPDX-License-Identifier: Apache-2.0
"""pl::ethos_u_normalize: LayerNorm, GroupNorm, RMSNorm and similar norms in 16 bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from aot.backends.ethos_u.block import INT8, INT16, INT32, Array
from aot.backends.ethos_u.ops.bits import root_power_of
from aot.backends.ethos_u.ops.parts import Parts, parts_of
from aot.backends.ethos_u.ops.squares import (
    guard_bits,
    squares_about,
    squares_about_means,
)
from aot.backends.ethos_u.steps import IntegerSteps, T, TosaSteps, scale16, scale32
from aot.dialect.library import define
from aot.dialect.signature import Int8, Int32

LARGEST_COUNT = 65536
"""Largest number of values in a part."""

LEAST_DEVIATION = 0.25
"""Least divisor, in input steps: it also divides parts with a smaller deviation."""

_ONE = scale32(1.0)
_TOP = 32767
_SPAN = 255
_WEIGHT = 127
_BIAS_BITS = 38  # of the NPU's 40
_ENTRIES = np.arange(-256, 257)
_LEAST_ENTRY = 64  # for 2^13
_ROOTS = _TOP * np.sqrt(_LEAST_ENTRY / np.maximum(_ENTRIES, _LEAST_ENTRY))
"""32767 * sqrt(2^13 / t) at t = 128 * entry, for t from 2^13 up, in real numbers."""


@dataclass(frozen=True)
class NpuNorm:
    """Arguments of pl::normalize as real numbers.

    Attributes:
      parts: layout of the values with a common mean and variance.
      centered, zero_point: as the op's.
      epsilon: added to the variance, in squared input steps.
      gain, offset: by channel: output steps of a normalized value of 1, and output steps
        added.
    """

    parts: Parts
    centered: bool
    zero_point: int
    epsilon: float
    gain: Array
    offset: Array

    @property
    def guard_bits(self) -> int:
        """Return the left shift of sums of squares; negative if they do not fit."""
        return guard_bits(self.parts.count, self.centered, self.epsilon)

    @property
    def is_plain(self) -> bool:
        """Return True if all channels have one positive gain and no offset."""
        return bool(
            (self.gain == self.gain[0]).all() and self.gain[0] > 0 and not self.offset.any()
        )


def norm_of(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    parts: Sequence[int],
    centered: bool,
    epsilon: int,
    radicand_shift: int,
    normalized_bits: int,
    output_bits: int,
    input_zero_point: int,
) -> NpuNorm | None:
    """Return the norm of a call; None if its parts do not lie as the NPU requires."""
    found = parts_of(
        input.shape,
        parts,
        [w or b for w, b in zip(_varies(input, weight), _varies(input, bias), strict=True)],
    )
    if found is None:
        return None
    gain = found.by_channel(weight, input.dim()) * 2.0 ** (normalized_bits - 32 - output_bits)
    return NpuNorm(
        found,
        centered,
        input_zero_point,
        epsilon / 2.0**radicand_shift / found.count**2,
        gain,
        found.by_channel(bias, input.dim()) * 2.0**-output_bits,
    )


def _varies(input: torch.Tensor, constant: torch.Tensor) -> list[bool]:
    """Return, for each dimension of the input, True if the constant varies along it."""
    sizes = (1,) * (input.dim() - constant.dim()) + tuple(constant.shape)
    return [size > 1 for size in sizes]


def normalize_steps(
    steps: TosaSteps[T], x: T, norm: NpuNorm, zero_point: int, minimum: int, maximum: int
) -> T:
    """Return the output, int8.

    S and Q are the sums of a part's values and of their squares. It has n values; m = round(S / n).

    - d = x - m; if the values are not centered, m is the zero point;
    - V = Q - m * (2 * S - n * m) + n * epsilon: the exact sum of d^2, plus epsilon;
    - r = 1 / sqrt(V / n) by a table. Its error is 2^-13 relative, or 1 / 32767 of the
      largest r that epsilon and LEAST_DEVIATION allow;
    - d * r in int16, times the channel's gain, plus the offset, rounded once.
    """
    p, guard = norm.parts, norm.guard_bits
    x = p.laid_out(steps, x)
    added = norm.epsilon * p.count
    if norm.centered:
        squares = squares_about_means(steps, x, p, guard, added)
        assert squares.mean is not None
        spread = p.spread(steps, squares.mean, INT8)
        d = steps.sub(steps.rescale(x, *_ONE, INT32), steps.rescale(spread, *_ONE, INT32))
        deviation = steps.rescale(d, *_ONE, INT16)
    else:
        squares = squares_about(steps, x, p, guard, norm.zero_point, added)
        deviation = steps.rescale(x, *_ONE, INT16, input_zero_point=norm.zero_point)
    least = max(LEAST_DEVIATION, math.sqrt(norm.epsilon))
    root = p.spread(steps, _root(steps, squares.total, p, guard, least), INT16)
    product = steps.mul(steps.rescale(deviation, *_ONE, INT32), steps.rescale(root, *_ONE, INT32))
    unit = 1 / (least * _TOP)  # of the product
    if norm.is_plain:
        factor = scale32(unit * float(norm.gain[0]))
        y = steps.rescale(product, *factor, INT8, output_zero_point=zero_point)
    else:
        y = _affine(steps, product, unit, norm, zero_point)
    if (minimum, maximum) != (-128, 127):
        # Clamp before the reshape: Vela 5.1.0 compiles a clamp after it wrongly.
        y = steps.clamp(y, minimum, maximum)
    return p.restored(steps, y)


def _root(steps: TosaSteps[T], total: T, parts: Parts, guard: int, least: float) -> T:
    """Return 1 / sqrt(total / count) of sums with guard bits, int16.

    The unit is 1 / (least * 32767). Sums of 0 and 1 give the maximum, whatever their power.
    """
    power = root_power_of(steps, total, by_table=parts.halves)
    t = steps.rescale(steps.mul(steps.mul(total, power), power), *scale32(2.0**-16), INT16)
    # The table contains the part of their scale that is no power of 2. A shift does the rest.
    fraction, exponent = math.frexp(math.sqrt(parts.count * 2.0**guard / 2.0**29) * least)
    wide = steps.mul(steps.entries(t, np.round(_ROOTS * fraction)), power)
    # wide = fraction * 32767 * sqrt(2^13 / t) * power, with t = total * power^2 / 2^16
    return steps.rescale(wide, *scale32(2.0**exponent), INT16)


def _affine(steps: TosaSteps[T], product: T, unit: float, norm: NpuNorm, zero_point: int) -> T:
    gain, offset = np.abs(norm.gain), norm.offset
    # n must reach all values moving the output over its full range, and stay within its bound.
    bound = min(
        math.sqrt(norm.parts.count), _SPAN / math.sqrt(norm.epsilon) if norm.epsilon else math.inf
    )
    moved = (_SPAN + np.abs(offset)) / np.maximum(gain, 2.0**-30)
    reach = min(bound, float(moved.max()))
    n = steps.rescale(product, *scale32(unit * _TOP / reach), INT16)
    factor = gain * reach / _TOP / _WEIGHT
    least = np.maximum(2.0**-40, np.abs(offset) * 2.0**-_BIAS_BITS)
    weight = np.where(factor > least, _WEIGHT * np.sign(norm.gain), 0)
    factor = np.maximum(factor, least)
    pairs = [scale16(float(f)) for f in factor]
    multiplier, shift = (np.array(values) for values in zip(*pairs, strict=True))
    bias = np.round(offset * 2.0**shift / multiplier)
    n = norm.parts.for_convolution(steps, n)
    sums = steps.depthwise_conv2d(n, weight.reshape(1, 1, -1, 1), bias, 0)
    return steps.rescale(sums, multiplier, shift, INT8, output_zero_point=zero_point)


@define()
def ethos_u_normalize(
    input: Int8,
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
    """Compute `normalize_steps` with arguments and result of pl::normalize.

    Arguments and result are those of pl::normalize with int8; floor and addend are 0.
    """
    assert floor == addend == 0
    numbers = centered, epsilon, radicand_shift, normalized_bits, output_bits, input_zero_point
    norm = norm_of(input, weight, bias, parts, *numbers)
    assert norm is not None
    limits = activation_min, activation_max
    return normalize_steps(IntegerSteps(), input, norm, output_zero_point, *limits).contiguous()
