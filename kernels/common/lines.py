# SPDX-License-Identifier: Apache-2.0
"""Sums of two quantized values as sums of two lines, for kernels/add/add_lines.h."""

from collections.abc import Mapping

import numpy as np

from kernels.common.kernel import INT8_MAX, INT8_MIN, INT32_MAX, AnyArray
from kernels.common.steps import requantized

_BITS = 21
"""PL_ADD_LINES_BITS."""

_TRIES = 3
"""Slopes to try, above and below the exact ones."""

_MOST = 1 << 22
"""Limit of slopes: then no sum overflows."""

_MOST_START = 1 << 29


def lines(
    operands: tuple[Mapping[str, int], Mapping[str, int]],
    left_shift: int,
    output: Mapping[str, int],
    low: int,
    top: int,
) -> tuple[int, int, int] | None:
    """Return both slopes and the start; None if no lines give all 65,536 results.

    Args:
      operands: zero_point, multiplier and shift of each.
      left_shift: of pl::add.
      output: as an operand.
      low, top: range of the results.
    """
    x = np.arange(INT8_MIN, INT8_MAX + 1, dtype=np.int64)
    a, b = (_requantized((x - o["zero_point"]) << left_shift, o) for o in operands)
    sums = _requantized(np.add.outer(a, b), output) + output["zero_point"]
    results = np.clip(sums, low, top)
    slopes = [
        o["multiplier"]
        * 2.0 ** (o["shift"] + left_shift - 31)
        * output["multiplier"]
        * 2.0 ** (output["shift"] - 31 + _BITS)
        for o in operands
    ]
    nearest = sorted(range(-_TRIES, _TRIES + 1), key=abs)
    for da in nearest:
        for db in nearest:
            a_slope, b_slope = round(slopes[0]) + da, round(slopes[1]) + db
            if max(abs(a_slope), abs(b_slope)) > _MOST:
                return None
            start = _start(np.add.outer(x * a_slope, x * b_slope), results, low, top)
            if start is not None:
                return a_slope, b_slope, start
    return None


def _requantized(x: AnyArray, of: Mapping[str, int]) -> AnyArray:
    return requantized(x, np.array(of["multiplier"]), np.array(of["shift"]))


def _start(sums: AnyArray, results: AnyArray, low: int, top: int) -> int | None:
    """Return a start that is exact for all results, None without one."""
    one = 1 << _BITS
    least = (results * one - sums)[results > low].max(initial=-INT32_MAX)
    most = ((results + 1) * one - 1 - sums)[results < top].min(initial=INT32_MAX)
    start = (int(least) + int(most)) // 2
    return start if least <= most and abs(start) <= _MOST_START else None
