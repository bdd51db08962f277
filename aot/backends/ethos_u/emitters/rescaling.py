# SPDX-License-Identifier: Apache-2.0
"""The dialect's requantization in TOSA: one RESCALE, and a CLAMP where the limits are narrower than
the result's type.

Sums of int8 products are 32 bits, and rescaled with DOUBLE_ROUND as the dialect rounds. Those of
int16 are 48 bits; the dialect rounds them once, as SINGLE_ROUND does, but TOSA and the NPU multiply
them by 15 bits. So calls of int16 are adapted: their multipliers end with 16 zeros.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from aot.backends.ethos_u.block import INT8, INT16, INT32, INT48, NUMPY, TosaValue
from aot.backends.ethos_u.tosa import TosaGraph

ONE = (1 << 30, 30)
"""TOSA's multiplier and shift for a scale of 1."""

_LARGEST_SHIFT = 29  # of the dialect: TOSA's shift is at least 2
_LARGEST_WIDE_SHIFT = 13
_SUM_BITS = 31
_WIDE_BITS = 39
_LOW_BITS = 16  # of a multiplier, not used for 48-bit sums


def requantized(
    graph: TosaGraph,
    sums: TosaValue,
    multiplier: Any,
    shift: Any,
    zero_point: int,
    minimum: int | None = None,
    maximum: int | None = None,
    dtype: int = INT8,
) -> TosaValue:
    """Return clamp(requantize(sums, multiplier, shift) + zero_point) of int32 sums, in a dtype.

    For int48 sums, use requantize_wide; the result is int16.
    """
    multipliers, shifts = np.asarray(multiplier), np.asarray(shift)
    if sums.dtype == INT48:
        y = graph.rescale(sums, multipliers >> _LOW_BITS, 15 - shifts, INT16)
        return clamped(graph, y, minimum, maximum)
    scale = multipliers, 31 - shifts
    y = graph.rescale(sums, *scale, dtype, output_zero_point=zero_point, double_round=True)
    limited = clamped(graph, y, minimum, maximum)
    return limited if limited is not y else graph.limited(sums, y)


def clamped(graph: TosaGraph, x: TosaValue, minimum: int | None, maximum: int | None) -> TosaValue:
    limits = np.iinfo(NUMPY[x.dtype])
    low = limits.min if minimum is None else minimum
    high = limits.max if maximum is None else maximum
    return x if (low, high) == (limits.min, limits.max) else graph.clamp(x, low, high)


def widened(graph: TosaGraph, x: TosaValue, zero_point: int) -> TosaValue:
    """Return x - zero_point in int32."""
    return graph.rescale(x, *ONE, INT32, input_zero_point=zero_point)


def narrowed(graph: TosaGraph, x: TosaValue, dtype: int) -> TosaValue:
    """Return int32 x, saturated to a dtype."""
    return graph.rescale(x, *ONE, dtype)


def span_of(x: torch.Tensor) -> int:
    """Return the largest magnitude of a value of an activation's dtype less its zero point."""
    return 255 if x.dtype is torch.int8 else 1 << 15


def too_large(largest: torch.Tensor, multiplier: Any, shift: Any) -> str:
    """Return the reason why TOSA cannot requantize 32-bit sums; it saturates only at the end.

    Args:
      largest: maximum magnitude of a sum, int64, by channel or for all.
      multiplier, shift: the dialect's.
    """
    shifts = torch.as_tensor(shift).to(torch.float64)
    problem = _bad_scale(multiplier, shifts, _LARGEST_SHIFT) or _overflows(largest, 0 * shifts)
    return problem or _overflows(2 * largest, shifts)  # TOSA's rule: below 2^(its shift - 1)


def too_large_sums(x: torch.Tensor, largest: torch.Tensor, multiplier: Any, shift: Any) -> str:
    """Return the same for sums of products of values of x; they have 48 bits if x is int16."""
    if x.dtype is torch.int8:
        return too_large(largest, multiplier, shift)
    if int(largest.max()) >= 1 << _WIDE_BITS:
        return "its sums may need more than 40 bits"
    shifts = torch.as_tensor(shift).to(torch.float64)
    return _bad_scale(multiplier, shifts, _LARGEST_WIDE_SHIFT) or _overflows(largest, shifts)


def in_15_bits(input: torch.Tensor, multiplier: Any, shift: Any, **_: Any) -> Mapping[str, Any]:
    """Return the nearest factors of 15 bits; used as `adapt` for sums of int16 products."""
    if input.dtype is torch.int8:
        return {}
    factors = (torch.as_tensor(multiplier).to(torch.int64) + (1 << 15)) >> _LOW_BITS
    carried = factors == 1 << 15
    factors = torch.where(carried, factors >> 1, factors) << _LOW_BITS
    shifts = torch.as_tensor(shift) + carried
    if isinstance(multiplier, torch.Tensor):
        kept = multiplier.dtype
        return {"multiplier": factors.to(kept), "shift": shifts.to(kept)}
    return {"multiplier": int(factors), "shift": int(shifts)}


def _bad_scale(multiplier: Any, shifts: torch.Tensor, largest: int) -> str:
    if bool((torch.as_tensor(multiplier) < 0).any()):
        return "its scale is negative"
    return f"a scale of 2^{largest} or more" if int(shifts.max()) > largest else ""


def _overflows(largest: torch.Tensor, shifts: torch.Tensor) -> str:
    if float((largest * torch.exp2(shifts)).max()) < 1 << _SUM_BITS:
        return ""
    return "its sums times their scale may need more than 32 bits"
