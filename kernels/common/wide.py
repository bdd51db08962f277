# SPDX-License-Identifier: Apache-2.0
"""Constants for kernels/common/wide.h, shared by conv2d and linear."""

import numpy as np

from kernels.common.gemm import reach
from kernels.common.kernel import INT32_MAX, AnyArray, Constant, OpCall
from kernels.common.quantization import channel_vector, factor, factors, zero_point

_MAX_SHIFT = 14
_MAGNITUDE = 2**15
DOTS = 4
"""Channels computed together by dots_s16.h."""
MAX_SUM = 2**47 - 1
"""Largest magnitude of a sum."""


def wide_factor(call: OpCall, prefix: str = "") -> tuple[int, int]:
    """Return the arguments multiplier and shift of a call requantized by wide.h.

    A call with several factors has a prefix for both names.
    """
    multiplier, shift = factor(call, f"{prefix}multiplier", f"{prefix}shift")
    call.require(
        shift <= _MAX_SHIFT,
        f"{prefix}shift is {shift}: of sums of int16 values it is at most {_MAX_SHIFT}",
    )
    return multiplier, shift


def wide_constants(call: OpCall, weight: AnyArray) -> dict[str, Constant]:
    """Return the data fields weight, bias, multiplier and shift of a call with int16 activations.

    Args:
      call: with arguments bias, multiplier, shift and both zero points.
      weight: int8 [O, ...].
    """
    for name in ("input_zero_point", "output_zero_point"):
        zero_point(call, name, "int16")
    channels = weight.shape[0]
    multiplier, shift = factors(call, channels)
    call.require(
        int(shift.max()) <= _MAX_SHIFT,
        f"shift is {shift.max()}: of sums of int16 values it is at most {_MAX_SHIFT}",
    )
    bias = channel_vector(call, "bias", channels)
    sums = reach(bias, weight.reshape(channels, -1), _MAGNITUDE)
    call.require(int(sums.max()) <= MAX_SUM, f"a sum may reach {sums.max()}, beyond 2^47")
    return {
        "weight": Constant(weight),
        "bias": Constant(bias),
        "multiplier": Constant(multiplier),
        "shift": Constant(shift),
    }


def narrow_constants(call: OpCall, weight: AnyArray) -> dict[str, Constant] | None:
    """Return the same constants with the shifts of the products' high halves.

    They need sums within 32 bits and factors dividing by 4 or more. Return None otherwise.
    """
    constants = wide_constants(call, weight)
    shift = constants["shift"].array
    sums = reach(constants["bias"].array, weight.reshape(len(weight), -1), _MAGNITUDE)
    if int(sums.max()) > INT32_MAX or int(shift.max()) > -2:
        return None
    return {**constants, "shift": Constant(shift + 1)}


def dots_constants(call: OpCall, weight: AnyArray, groups: int = 1) -> dict[str, Constant] | None:
    """Return the data fields weight and bias of a call of kernels/common/dots_s16.h.

    Return None if its sums or factors are out of range for that kernel.
    """
    constants = narrow_constants(call, weight)
    if constants is None:
        return None
    by_channel = [constants[name].array for name in ("bias", "multiplier", "shift")]
    channels = len(weight) // groups
    # The last four begin four from the end, be they among those before them; or are not there.
    begins = np.minimum(np.arange(0, channels, DOTS), max(0, channels - DOTS))
    of_block = np.minimum(np.add.outer(begins, np.arange(DOTS)), channels - 1)
    at = np.add.outer(channels * np.arange(groups), of_block)
    factors = np.stack([values[at] for values in by_channel], axis=2)
    return {
        "weight": constants["weight"],
        "bias": Constant(np.ascontiguousarray(factors, np.int32).reshape(-1)),
    }
