# SPDX-License-Identifier: Apache-2.0
"""Sums brought into one range by their leading zeros, so that a table of 16 bits can be read at
their leading bits.
"""

from __future__ import annotations

import numpy as np

from aot.backends.ethos_u.block import INT16, INT32
from aot.backends.ethos_u.steps import Steps, T, scale32

_ZEROS = np.arange(-256, 257)
_ROOT_POWERS = 2.0 ** ((_ZEROS.clip(1, 30) - 1) // 2)


def number(steps: Steps[T], value: int) -> T:
    return steps.constant([[[[value]]]], INT32)


def zeros_of(steps: Steps[T], total: T) -> T:
    """By how many bits sums go up into [2^30, 2^31)."""
    return steps.sub(steps.clz(total), number(steps, 1))


def root_power_of(steps: Steps[T], total: T, by_table: bool) -> T:
    """2^h for the h by which sums go up twice into [2^29, 2^31); by a table that of 0 and 1 is half
    as large.
    """
    if not by_table:
        return steps.shift_left(number(steps, 1), half_zeros_of(steps, total))
    zeros = steps.add(steps.clz(total), number(steps, 0))
    return steps.entries(steps.rescale(zeros, *scale32(128.0), INT16), _ROOT_POWERS)


def half_zeros_of(steps: Steps[T], total: T) -> T:
    """Half of the bits, of which there are an even number, by which they go into [2^29, 2^31)."""
    return steps.shift_right(steps.sub(steps.clz(total), number(steps, 2)), number(steps, 1))


def shifted_up(steps: Steps[T], x: T, bits: T) -> T:
    # A sum with 0 is one operation with the RESCALE behind it, where that alone would be two.
    return steps.add(steps.shift_left(x, bits), number(steps, 0))


def leading_bits(steps: Steps[T], total: T, up: T) -> T:
    """The 16 bits at the top of sums that go up so far, int16."""
    return steps.rescale(shifted_up(steps, total, up), *scale32(2.0**-16), INT16)
