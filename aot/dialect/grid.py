# SPDX-License-Identifier: Apache-2.0
"""Scales holding certain numbers exactly: values with a common divisor, and constants in
comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

_FINEST = 2.0**-15
"""The finest step; int16 has it in [-1, 1)."""

_LARGEST = 2.0**24
"""Above it float32 holds integers only."""

_FIRST = 256  # values checked before all others
_COARSER = 1.25  # largest growth of a scale for a constant


def common_step(values: np.ndarray[Any, Any], before: float = 0.0) -> float | None:
    """Return the largest number that all values are multiples of; None if there is none.

    Args:
      values: finite, float32.
      before: the step of earlier values; 0 if there are none but zeros.
    """
    values = values.reshape(-1)
    step = _step_of(values[:_FIRST], before)
    return step if step is None or values.size <= _FIRST else _step_of(values[_FIRST:], step)


def _step_of(values: np.ndarray[Any, Any], before: float) -> float | None:
    scaled = values.astype(np.float64) / _FINEST
    if (np.abs(scaled) > _LARGEST / _FINEST).any() or (scaled != np.rint(scaled)).any():
        return None
    found = int(np.gcd.reduce(np.abs(scaled).astype(np.int64), initial=round(before / _FINEST)))
    return found * _FINEST


def exact_scale(
    integers: tuple[int, int, bool],
    ends: tuple[float, float],
    step: float | None,
    all_ends: tuple[float, float],
    constants: Sequence[float],
) -> tuple[float, int] | None:
    """Return the scale and zero point of a range with exact numbers.

    Return None if the range cannot hold them, or needs to hold none.

    Args:
      integers: the smallest used integer, the largest, and True if the zero point is 0.
      ends: of the range.
      step: common divisor of all values; None or 0 if they have none.
      all_ends: the smallest and the largest value, or 0.
      constants: constants compared with the values, other than 0. Those outside widen the
        range by little or not at all.
    """
    least, most, is_symmetric = integers

    def needed(low: float, high: float) -> float:
        if is_symmetric:
            return max(low / least, high / most)
        return (high - low) / (most - least)

    def with_zero(scale: float, low: float) -> tuple[float, int]:
        return scale, 0 if is_symmetric else max(min(least - round(low / scale), most), least)

    low, high = min(ends[0], 0.0), max(ends[1], 0.0)
    if step:
        for lowest, highest in ((min(low, all_ends[0]), max(high, all_ends[1])), all_ends):
            if (finest := needed(lowest, highest)) <= step:
                largest = 0.0 if is_symmetric else max(-lowest, highest)
                return with_zero(_dividing(step, finest, largest), lowest)
    widest = _COARSER * needed(low, high)
    for constant in sorted(constants, key=abs):
        wider = min(low, constant), max(high, constant)
        if needed(*wider) <= widest:
            low, high = wider
    inside = [constant for constant in constants if low <= constant <= high]
    scale = _holding(inside, needed(low, high))
    return None if scale is None else with_zero(scale, low)


def _dividing(step: float, needed: float, largest: float) -> float:
    """Return a divisor of a step as the scale, little coarser than needed.

    Multiples of the step up to `largest` are exact in float32. If `largest` is 0, the divisor is a
    power of two. Two scales then have an exact ratio, as required for int16 comparisons.
    """
    if not largest:
        return math.ldexp(step, -math.floor(math.log2(step / needed)))
    multiples = np.arange(1, largest / step + 1, dtype=np.float32)
    counts = np.arange(math.floor(step / needed * (1.0 + 2.0**-20)), 0, -1, dtype=np.float32)
    scales = np.float32(step) / counts
    exact = counts[:, None] * multiples * scales[:, None] == multiples * np.float32(step)
    return float(scales[exact.all(1).argmax()])  # the step's own scale is, if no other


def _holding(constants: Sequence[float], needed: float) -> float | None:
    """Return a scale, little coarser than needed, with constants as exact multiples in float32.

    It holds as many constants as possible, the largest first. Return None if it can hold none.
    """
    held: list[float] = []
    best = None
    for constant in sorted(constants, key=abs, reverse=True):
        scale = _of_all([*held, constant], needed)
        if scale is not None:
            held.append(constant)
            best = scale
    return best


def _of_all(constants: list[float], needed: float) -> float | None:
    """Return the finest such scale of all of them."""
    values = np.array(constants, np.float32)
    most = math.floor(abs(constants[0]) / needed * (1.0 + 2.0**-20))
    counts = np.arange(most, math.floor(most / _COARSER), -1, dtype=np.float32)
    scales = np.abs(values[0]) / counts
    products = np.rint(values / scales[:, None]) * scales[:, None]
    exact = (products == values).all(1)
    return float(scales[exact.argmax()]) if exact.any() else None
