# SPDX-License-Identifier: Apache-2.0
"""The specification of requantization (kernels/common/requantize.h) in integers of 64 bits."""

from __future__ import annotations

from tests.proofs.formulas import Bits, choose


def half_away(value: Bits, right: int) -> Bits:
    """Return value / 2^right, rounded to nearest, ties away from zero."""
    if right == 0:
        return value
    half = 1 << (right - 1)
    return choose(value < 0, -((-value + half) >> right), (value + half) >> right)


def saturated(value: Bits, low: int, high: int) -> Bits:
    width = value.width
    return choose(
        value < low, Bits.of(low, width), choose(value > high, Bits.of(high, width), value)
    )


def requantized(x: Bits, multiplier: int, shift: int) -> Bits:
    """Return the result for 32 bits, in 64."""
    shifted = saturated(x.signed(64) << max(shift, 0), -(2**31), 2**31 - 1)
    high = (shifted * multiplier + (1 << 30)) >> 31
    return half_away(high, max(-shift, 0))
