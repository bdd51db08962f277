# SPDX-License-Identifier: Apache-2.0
"""Sums over the parts of an input, and of the squares of what its values differ from their means,
or from a number that is the same for all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic

from aot.backends.ethos_u.block import INT8, INT16, INT32
from aot.backends.ethos_u.ops.bits import number
from aot.backends.ethos_u.ops.parts import Parts
from aot.backends.ethos_u.steps import Steps, T, scale32

_ONE = scale32(1.0)
_LARGEST_SQUARE = 4 * 128**2
_LARGEST_CENTERED = 128**2 * (1 + 1 / 128)


def guard_bits(count: int, centered: bool, added: float = 0.0) -> int:
    """By how many bits sums of so many squares, each with something added, are scaled up; negative
    where they do not fit.
    """
    square = _LARGEST_CENTERED if centered else _LARGEST_SQUARE
    return min(12, math.floor(30.99 - math.log2(count * (square + added))))


@dataclass(frozen=True)
class Squares(Generic[T]):
    """All int32 [1, 1, 1, parts], but for the mean, which is int8.

    Attributes:
      total: the sums of squares with guard bits.
      mean: rounded, which the squares are about; None where those are about a number.
      rest: with a mean twice what the values' sum is more than the mean times their number, in two
        terms, the second to be subtracted from the first; both with guard bits.
    """

    total: T
    mean: T | None = None
    rest: tuple[T, T] | None = None


def squares_about_means(
    steps: Steps[T], x: T, parts: Parts, guard: int, added: float = 0.0
) -> Squares[T]:
    """With S and Q the sums of a part's values and of their squares, n values and m = round(S / n):
    Q - m * (2 * S - n * m), which is that of (x - m)^2, exact, plus `added`.
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
    steps: Steps[T], x: T, parts: Parts, guard: int, center: int, added: float = 0.0
) -> Squares[T]:
    """The same about a number."""
    total = _total(steps, x, parts, guard, added)
    if center:
        twice = parts.twice_the_sums(steps, x, guard)
        less = steps.sub(twice, number(steps, center * parts.count << guard))
        total = steps.sub(total, steps.mul(less, number(steps, center)))
    return Squares(total)


def _total(steps: Steps[T], x: T, parts: Parts, guard: int, added: float) -> T:
    wide = steps.rescale(x, *_ONE, INT32), steps.rescale(x, *_ONE, INT32)
    squares = steps.rescale(steps.mul(*wide), *_ONE, INT16)
    return parts.sums(steps, squares, guard, added)
