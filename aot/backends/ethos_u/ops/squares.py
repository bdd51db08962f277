# SPDX-License-Identifier: Apache-2.0
"""Sums over the parts of an input, and sums of squared deviations: from the parts' means, or from a
common number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic

from aot.backends.ethos_u.block import INT8, INT16, INT32
from aot.backends.ethos_u.ops.bits import number
from aot.backends.ethos_u.ops.parts import Parts
from aot.backends.ethos_u.steps import T, TosaSteps, scale32

_ONE = scale32(1.0)
_LARGEST_SQUARE = 4 * 128**2
_LARGEST_CENTERED = 128**2 * (1 + 1 / 128)


def guard_bits(count: int, centered: bool, added: float = 0.0) -> int:
    """Return the left shift of sums of `count` squares, each with something added; negative if they
    do not fit.
    """
    square = _LARGEST_CENTERED if centered else _LARGEST_SQUARE
    return min(12, math.floor(30.99 - math.log2(count * (square + added))))


@dataclass(frozen=True)
class Squares(Generic[T]):
    """Sums of squares; all int32 [1, 1, 1, parts] except the mean, which is int8.

    Attributes:
      total: the sums of squares with guard bits.
      mean: the rounded mean of the squares; None if they are about a number.
      rest: with a mean: twice the values' sum minus the mean times their number, as two
        terms. Subtract the second from the first. Both have guard bits.
    """

    total: T
    mean: T | None = None
    rest: tuple[T, T] | None = None


def squares_about_means(
    steps: TosaSteps[T], x: T, parts: Parts, guard: int, added: float = 0.0
) -> Squares[T]:
    """Return the exact sum of (x - m)^2 of each part, plus `added`.

    S and Q are the sums of a part's values and of their squares. It has n values; m = round(S / n).
    The formula is Q - m * (2 * S - n * m).
    """
    total = _total(steps, x, parts, guard, added)
    twice = parts.twice_the_sums(steps, x, guard)
    wide = steps.for_rescale(twice)
    mean = steps.rescale(wide, *scale32(2.0 ** -(guard + 1) / parts.count), INT32)
    times = steps.mul(mean, number(steps, parts.count << guard))
    apart = steps.sub(twice, times)
    about = steps.sub(total, steps.mul(mean, apart))
    return Squares(about, steps.rescale(steps.for_rescale(mean), *_ONE, INT8), (apart, times))


def squares_about(
    steps: TosaSteps[T], x: T, parts: Parts, guard: int, center: int, added: float = 0.0
) -> Squares[T]:
    """Return the same about a number."""
    total = _total(steps, x, parts, guard, added)
    if center:
        twice = parts.twice_the_sums(steps, x, guard)
        less = steps.sub(twice, number(steps, center * parts.count << guard))
        total = steps.sub(total, steps.mul(less, number(steps, center)))
    return Squares(total)


def _total(steps: TosaSteps[T], x: T, parts: Parts, guard: int, added: float) -> T:
    wide = steps.rescale(x, *_ONE, INT32), steps.rescale(x, *_ONE, INT32)
    squares = steps.rescale(steps.mul(*wide), *_ONE, INT16)
    return parts.sums(steps, squares, guard, added)
