# SPDX-License-Identifier: Apache-2.0
"""Constants of the last stage as a step function, for kernels/common/gemm_taps_s8.h.

A result goes up by one at no more than 255 sums. With s = sum - first it is

    (s * high + ((s >> 5) * fine >> 11) + offset) >> 24

modulo 2^32, for s in [0, limit]. Both sides of each step prove the constants for all sums.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from kernels.common.kernel import INT32_MAX, INT32_MIN, AnyArray

_FINE_BITS, _DROPPED_BITS = 16, 5
"""Bits of `fine`, and of s that do not matter for its product."""

_ONE = 1 << 24
_TRIES = 64
_STARTS = (0, 3, 7, 12, 17, 23, 30)
"""Slopes around the exact one, and sums before the first step, to try."""


@dataclass(frozen=True)
class Steps:
    """Constants by channel, [channels] each. `less` is subtracted from the offset of sums below
    `turn`: ties go away from zero.
    """

    first: AnyArray
    limit: AnyArray
    high: AnyArray
    fine: AnyArray
    offset: AnyArray
    turn: AnyArray
    less: AnyArray
    signed: bool
    """True if results are below the zero point, so that `turn` matters."""

    @classmethod
    def of(
        cls, multiplier: AnyArray, shift: AnyArray, zero_point: int, low: int, top: int
    ) -> "Steps | None":
        """Return the constants; None if a channel has none.

        Args:
          multiplier, shift: of requantize.h, [channels]; multipliers are not negative.
          zero_point: of the results.
          low, top: their range.
        """
        results = np.arange(low + 1, top + 1)
        negative = results <= zero_point
        found = np.zeros((7, len(multiplier)), np.int64)
        scaled = multiplier != 0
        # A factor of zero has one result.
        found[1] = 2**32 - 1
        found[4] = (min(max(zero_point, low), top) & 255) * _ONE
        if scaled.any():
            if low == top:
                return None
            place = _places(multiplier[scaled], shift[scaled], zero_point, results)
            slope = multiplier[scaled] * 2.0 ** (shift[scaled] - 31 + 24 + _FINE_BITS)
            solved = _solve(place, slope, results - low, negative, low)
            if solved is None:
                return None
            found[:, scaled] = solved
        first, limit, high, fine, offset, turn, less = found
        signed = bool(negative.any())
        return cls(first, limit, high, fine, offset, turn, less, signed)


def requantized(x: AnyArray, multiplier: AnyArray, shift: AnyArray) -> AnyArray:
    """Return the arithmetic of requantize.h on int64 arrays of int32 values."""
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    high = (np.clip(x << left, INT32_MIN, INT32_MAX) * multiplier + (1 << 30)) >> 31
    halved = (((high + (high >> 63)) >> np.maximum(right - 1, 0)) + 1) >> 1
    result: AnyArray = np.where(right > 0, halved, high)
    return result


def _places(multiplier: AnyArray, shift: AnyArray, zero_point: int, results: AnyArray) -> AnyArray:
    """Return the least sum with at least each of the results, [channels, results]."""
    m, s = (array.astype(np.int64)[:, np.newaxis] for array in (multiplier, shift))
    low = np.full((len(multiplier), len(results)), INT32_MIN + 1, np.int64)
    high = np.full_like(low, INT32_MAX)
    for _ in range(32):
        middle = (low + high) >> 1
        there = requantized(middle, m, s) + zero_point >= results
        high = np.where(there, middle, high)
        low = np.where(there, low, np.minimum(middle + 1, high))
    return high


def _solve(
    place: AnyArray, slope: AnyArray, up: AnyArray, negative: AnyArray, low: int
) -> AnyArray | None:
    """Return the constants in the order of `Steps`, or None; `up` are the results above `low`."""
    limit = place[:, -1] - place[:, 0] + 1 + _STARTS[-1]
    if (limit >> (32 - _FINE_BITS + _DROPPED_BITS)).any() or (place[:, -1] >= INT32_MAX).any():
        return None
    # A slope off by this much moves the last step by half a sum.
    apart = np.maximum((1 << 31 + _FINE_BITS) // limit**2 // (_TRIES // 2), 1)
    found = np.zeros((7, len(place)), np.int64)
    left = np.arange(len(place))
    # Other starts drop other bits.
    for start, step in itertools.product(_STARTS, range(_TRIES)):
        first = place[left, 0] - 1 - start
        s = place[left] - first[:, np.newaxis]
        value = (
            np.round(slope[left]).astype(np.int64) + (step + 1) // 2 * (-1) ** step * apart[left]
        )
        high, fine = value >> _FINE_BITS, value & ((1 << _FINE_BITS) - 1)
        offsets, exact = _offsets(s, high, fine, up, negative)
        turn = np.maximum(-first, 0) if negative.any() else np.zeros_like(first)
        offset = (offsets[0] + (low & 255) * _ONE) % 2**32
        constants = np.stack([first, s[:, -1], high, fine, offset, turn, offsets[0] - offsets[1]])
        found[:, left[exact]] = constants[:, exact]
        left = left[~exact]
        if not left.size:
            return found
    return None


def _offsets(
    s: AnyArray, high: AnyArray, fine: AnyArray, up: AnyArray, negative: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Return the offsets above and below zero, [2, channels], and which channels are exact."""

    def sums(of: AnyArray) -> AnyArray:
        total: AnyArray = of * high[:, np.newaxis] + (
            (of >> _DROPPED_BITS) * fine[:, np.newaxis] >> _FINE_BITS - _DROPPED_BITS
        )
        return total

    at, before = sums(s), sums(s - 1)
    least = up * _ONE - at
    most = up * _ONE - 1 - before
    # The first and last result have no step on their other side.
    least[:, 0] = np.maximum(least[:, 0], 0)
    most[:, -1] = np.minimum(most[:, -1], (up[-1] + 1) * _ONE - 1 - at[:, -1])
    exact = (at[:, -1] < 2**33) & (high >= 0)
    offsets = np.zeros((2, len(s)), np.int64)
    for side, chosen in enumerate((~negative, negative)):
        if chosen.any():
            bottom, top = least[:, chosen].max(axis=1), most[:, chosen].min(axis=1)
            offsets[side] = (bottom + top) // 2
            exact &= bottom <= top
    if negative.all():
        offsets[0] = offsets[1]
    if not negative.any():
        offsets[1] = offsets[0]
    return offsets, exact
