# SPDX-License-Identifier: Apache-2.0
"""Normalization of sums by their leading zeros: a 16-bit table is read at their leading bits."""

from __future__ import annotations

import numpy as np

from aot.backends.ethos_u.block import INT16, INT32
from aot.backends.ethos_u.steps import T, TosaSteps, scale32

_ZEROS = np.arange(-256, 257)
_ROOT_POWERS = 2.0 ** ((_ZEROS.clip(1, 30) - 1) // 2)


def number(steps: TosaSteps[T], value: int) -> T:
    return steps.constant([[[[value]]]], INT32)


def zeros_of(steps: TosaSteps[T], total: T) -> T:
    """Return the left shift bringing sums into [2^30, 2^31)."""
    return steps.sub(steps.clz(total), number(steps, 1))


def root_power_of(steps: TosaSteps[T], total: T, by_table: bool) -> T:
    """Return 2^h; two shifts by h bring a sum into [2^29, 2^31).

    A table gives half of it for 0 and 1.
    """
    if not by_table:
        return steps.shift_left(number(steps, 1), half_zeros_of(steps, total))
    zeros = steps.add(steps.clz(total), number(steps, 0))
    return steps.entries(steps.rescale(zeros, *scale32(128.0), INT16), _ROOT_POWERS)


def half_zeros_of(steps: TosaSteps[T], total: T) -> T:
    """Return half of the even left shift bringing sums into [2^29, 2^31)."""
    return steps.shift_right(steps.sub(steps.clz(total), number(steps, 2)), number(steps, 1))


def shifted_up(steps: TosaSteps[T], x: T, bits: T) -> T:
    # A sum with 0 and the RESCALE after it are one operation. The shift alone would make two.
    return steps.add(steps.shift_left(x, bits), number(steps, 0))


def leading_bits(steps: TosaSteps[T], total: T, up: T) -> T:
    """Return the top 16 bits of sums after this left shift, int16."""
    return steps.rescale(shifted_up(steps, total, up), *scale32(2.0**-16), INT16)
