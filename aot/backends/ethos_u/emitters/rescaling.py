# SPDX-License-Identifier: Apache-2.0
"""The dialect's requantization in TOSA: one RESCALE with DOUBLE_ROUND, and a CLAMP where the limits
are narrower than int8's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from aot.backends.ethos_u.tosa import INT8, INT32, TosaGraph, Value
from aot.dialect.arithmetic import INT8_MAX, INT8_MIN

ONE = (1 << 30, 30)
"""TOSA's multiplier and shift for a scale of 1."""

_LARGEST_SHIFT = 29  # of the dialect: TOSA's is at least 2
_SUM_BITS = 31


def requantized(
    graph: TosaGraph,
    sums: Value,
    multiplier: Any,
    shift: Any,
    zero_point: int,
    minimum: int = INT8_MIN,
    maximum: int = INT8_MAX,
) -> Value:
    """clamp(requantize(sums, multiplier, shift) + zero_point) of int32 sums."""
    scale = np.asarray(multiplier), 31 - np.asarray(shift)
    y = graph.rescale(sums, *scale, INT8, output_zero_point=zero_point, double_round=True)
    return clamped(graph, y, minimum, maximum)


def clamped(graph: TosaGraph, x: Value, minimum: int, maximum: int) -> Value:
    if (minimum, maximum) == (INT8_MIN, INT8_MAX):
        return x
    return graph.clamp(x, minimum, maximum)


def widened(graph: TosaGraph, x: Value, zero_point: int) -> Value:
    """x - zero_point in int32."""
    return graph.rescale(x, *ONE, INT32, input_zero_point=zero_point)


def narrowed(graph: TosaGraph, x: Value) -> Value:
    """int32 x, saturated to int8."""
    return graph.rescale(x, *ONE, INT8)


def too_large(largest: torch.Tensor, multiplier: Any, shift: Any) -> str:
    """Why sums cannot be requantized as TOSA does it, which saturates only at the end.

    Args:
      largest: magnitude that a sum may have, int64, by channel or for all.
      multiplier, shift: the dialect's.
    """
    multipliers, shifts = torch.as_tensor(multiplier), torch.as_tensor(shift).to(torch.int64)
    if bool((multipliers < 0).any()):
        return "its scale is negative"
    if int(shifts.max()) > _LARGEST_SHIFT:
        return f"a scale of 2^{_LARGEST_SHIFT} or more"
    if int((largest << shifts.clamp(min=0)).max()) >= 1 << _SUM_BITS:
        return "its sums times their scale may need more than 32 bits"
    return ""
