# SPDX-License-Identifier: Apache-2.0
"""Checks of quantization arguments the kernels rely on (kernels/common/requantize.h)."""

from collections.abc import Iterable

import numpy as np

from kernels.common.kernel import (
    INT8_MAX,
    INT8_MIN,
    INT16_MAX,
    INT16_MIN,
    INT32_MAX,
    AnyArray,
    OpCall,
)

MIN_SHIFT, MAX_SHIFT = -31, 30

LIMITS = {"int8": (INT8_MIN, INT8_MAX), "int16": (INT16_MIN, INT16_MAX)}


SUFFIXES = {"int8": "s8", "int16": "s16"}
"""Suffixes of functions, by the dtype of activations."""


def activation_dtype(call: OpCall, name: str) -> str:
    """Return the dtype of an activation, int8 or int16; any other is refused."""
    dtype = call.tensor(name).dtype
    call.require(dtype in LIMITS, f"{name} is {dtype}, not int8 or int16")
    return dtype


def zero_point(call: OpCall, name: str, dtype: str = "int8") -> int:
    """Return the zero point of a value of a dtype: of int16 0."""
    return call.integer(name, *((0, 0) if dtype == "int16" else LIMITS[dtype]))


def activation_range(call: OpCall, dtype: str = "int8") -> dict[str, int]:
    """Return the params fields activation_min and activation_max of an output of a dtype."""
    minimum = call.integer("activation_min", *LIMITS[dtype])
    maximum = call.integer("activation_max", *LIMITS[dtype])
    call.require(minimum <= maximum, f"activation_min {minimum} is above activation_max {maximum}")
    return {"activation_min": minimum, "activation_max": maximum}


def factor(
    call: OpCall,
    multiplier_name: str,
    shift_name: str,
    signed: bool = False,
    normalised: bool = True,
) -> tuple[int, int]:
    """Return a multiplier and shift argument valid for requantize.

    Args:
      call: the owner of the arguments.
      multiplier_name: by magnitude 0 or in [2^30, 2^31).
      shift_name: in [-31, 30].
      signed: the multiplier may be negative.
      normalised: a multiplier below 2^30 is refused.
    """
    multiplier, shift = call.integer(multiplier_name), call.integer(shift_name)
    _check_factors(call, multiplier_name, [(multiplier, shift)], signed, normalised)
    return multiplier, shift


def factors(call: OpCall, channels: int, prefix: str = "") -> tuple[AnyArray, AnyArray]:
    """Return the per-channel `multiplier` and `shift` tensors, int32 [channels].

    A prefix distinguishes them if a call has several.
    """
    multiplier = channel_vector(call, f"{prefix}multiplier", channels)
    shift = channel_vector(call, f"{prefix}shift", channels)
    pairs = zip(multiplier.tolist(), shift.tolist(), strict=True)
    _check_factors(call, f"{prefix}multiplier", pairs, signed=False)
    return multiplier, shift


def channel_vector(call: OpCall, name: str, channels: int) -> AnyArray:
    values = call.constant(name, "int32", rank=1)
    call.require(
        values.shape == (channels,),
        f"{name} has {values.size} entries for {channels} output channels",
    )
    return values


def requantize(x: int, multiplier: int, shift: int) -> int:
    """Return the arithmetic of requantize.h on Python integers, for bounds."""
    left, right = max(shift, 0), max(-shift, 0)
    x = min(max(x << left, -INT32_MAX - 1), INT32_MAX)
    high = (x * multiplier + (1 << 30)) >> 31
    mask = (1 << right) - 1
    return (high >> right) + int((high & mask) > (mask >> 1) + int(high < 0))


def halving_shifts(multiplier: AnyArray, shift: AnyArray) -> AnyArray | None:
    """Return `right` of factors multiplier / 2^31 / 2^(right + 1), if all are in [0, 19]; else
    None.

    (2 * zero_point + 1) * 2^right and SMMLAR's addend are then far from int32's ends. The shift is
    arbitrary for a multiplier of zero.
    """
    right: AnyArray = np.where(multiplier == 0, 0, -1 - shift.astype(np.int64))
    return right if right.min() >= 0 and right.max() < 20 else None


def _check_factors(
    call: OpCall,
    name: str,
    pairs: Iterable[tuple[int, int]],
    signed: bool,
    normalised: bool = True,
) -> None:
    allowed = "0 or in [2^30, 2^31)" if normalised else "in [0, 2^31)"
    for index, (multiplier, shift) in enumerate(pairs):
        magnitude = abs(multiplier) if signed else multiplier
        call.require(
            magnitude == 0 or (2**30 if normalised else 0) <= magnitude <= INT32_MAX,
            f"{name}[{index}] is {multiplier}: it must be {allowed}"
            + (" by magnitude" if signed else ""),
        )
        call.require(
            MIN_SHIFT <= shift <= MAX_SHIFT,
            f"the shift of {name}[{index}] is {shift}, not in [{MIN_SHIFT}, {MAX_SHIFT}]",
        )
