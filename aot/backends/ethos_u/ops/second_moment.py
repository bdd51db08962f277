# SPDX-License-Identifier: Apache-2.0
"""pl::ethos_u_second_moment: variances, standard deviations and Euclidean norms in 32 bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from aot.backends.ethos_u.block import INT8, INT32
from aot.backends.ethos_u.ops.bits import half_zeros_of, leading_bits, number
from aot.backends.ethos_u.ops.parts import Parts, parts_of
from aot.backends.ethos_u.ops.squares import (
    guard_bits,
    squares_about,
    squares_about_means,
)
from aot.backends.ethos_u.steps import IntegerSteps, T, TosaSteps, scale32
from aot.dialect.library import Inferred, define, reduced_shape
from aot.dialect.signature import Int8
from kernels.reduce.op_second_moment import fraction_bits

LARGEST_COUNT = 32768
"""Largest number of values per result: the square of a sum's remainder takes 30 bits."""

_TOP = 32767
_MOST_STEPS = 2.0**29  # of the output, before it saturates
_ROOTS = np.round(_TOP * np.sqrt(np.maximum(np.arange(-256, 257), 0) / 256))
"""32767 * sqrt(t / 2^15) at t = 128 * entry."""


@dataclass(frozen=True)
class Moment:
    """Arguments of pl::second_moment as real numbers.

    Attributes:
      parts: layout of the values of each result.
      centered, root, zero_point: as the op's.
      factor: from a sum of squares, or its root, to output steps.
      guard: left shift of sums of squares, in bits.
    """

    parts: Parts
    centered: bool
    root: bool
    zero_point: int
    factor: float
    guard: int

    @property
    def problem(self) -> str:
        if self.parts.count > LARGEST_COUNT:
            return f"it is of {self.parts.count} values, of at most {LARGEST_COUNT}"
        largest = 2.0 ** (31 - self.guard)
        steps = self.factor * (math.sqrt(largest) if self.root else largest)
        if self.guard < 0 or steps >= _MOST_STEPS:
            return "its sums of squares may need more than 31 bits"
        return ""


def moment_of(
    shape: Sequence[int],
    dim: Sequence[int],
    centered: bool,
    root: bool,
    input_zero_point: int,
    multiplier: int,
    shift: int,
) -> Moment | None:
    """Return the moment of a call; None if its values do not lie as the NPU requires."""
    cut = [1 if d in dim else size for d, size in enumerate(shape)]
    parts = parts_of(shape, cut, [False] * len(shape))
    if parts is None:
        return None
    bits = fraction_bits(parts.count, centered, root, torch.int8)
    times = parts.count if centered else 1
    factor = multiplier / 2.0**31 * 2.0**shift
    factor *= math.sqrt(times * 2.0**bits) if root else times * 2.0**bits
    guard = guard_bits(parts.count, centered)
    return Moment(parts, centered, root, input_zero_point, factor, guard)


def second_moment_steps(steps: TosaSteps[T], x: T, moment: Moment, zero_point: int) -> T:
    """Return the output, int8 [1, 1, 1, parts].

    The sum of squares about the mean is the sum about the rounded mean m, minus r^2 / n. Here r = S
    - n * m is the remainder of the values' sum. Both have guard bits. A table gives the root from
    the leading bits; a shift then restores its scale.
    """
    p = moment.parts
    x = p.laid_out(steps, x)
    if moment.centered:
        squares = squares_about_means(steps, x, p, moment.guard)
        assert squares.rest is not None
        rest = steps.rescale(steps.sub(*squares.rest), *scale32(2.0**-moment.guard), INT32)
        less = scale32(2.0**moment.guard / (4 * p.count))
        total = steps.sub(squares.total, steps.rescale(steps.mul(rest, rest), *less, INT32))
    else:
        total = squares_about(steps, x, p, moment.guard, moment.zero_point).total
    if not moment.root:
        factor = scale32(moment.factor * 2.0**-moment.guard)
        return steps.rescale(total, *factor, INT8, output_zero_point=zero_point)
    halves = half_zeros_of(steps, total)
    t = leading_bits(steps, total, steps.add(halves, halves))
    # One more bit: a shift by zero does not round.
    down = steps.add(halves, number(steps, 1))
    root = steps.shift_right(steps.table(t, _ROOTS), down)
    # root = 32767 * 2^6 * sqrt(total / 2^31)
    exact = math.sqrt(2.0 ** (31 - moment.guard)) / (_TOP << 6)
    factor = scale32(moment.factor * exact)
    return steps.rescale(root, *factor, INT8, output_zero_point=zero_point)


def _infer(input: torch.Tensor, dim: Sequence[int], keepdim: bool) -> Inferred:
    return reduced_shape(input.shape, dim, keepdim), torch.int8


@define(infer=_infer)
def ethos_u_second_moment(
    input: Int8,
    dim: Sequence[int],
    keepdim: bool,
    centered: bool,
    root: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """Compute `second_moment_steps` with arguments and result of pl::second_moment, for int8."""
    moment = moment_of(input.shape, dim, centered, root, input_zero_point, multiplier, shift)
    assert moment is not None
    y = second_moment_steps(IntegerSteps(), input, moment, output_zero_point)
    return y.reshape(reduced_shape(input.shape, dim, keepdim)).contiguous()
