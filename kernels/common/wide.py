# SPDX-License-Identifier: Apache-2.0
"""Constants for kernels/common/wide.h, shared by conv2d and linear."""

import numpy as np

from kernels.common.kernel import AnyArray, Constant, Field, OpCall
from kernels.common.quantization import channel_vector, factor, factors, zero_point

_MAX_SHIFT = 14
MAX_SUM = 2**47 - 1
"""That a sum may reach by magnitude."""


def wide_factor(call: OpCall, prefix: str = "") -> tuple[int, int]:
    """Arguments multiplier and shift of a call whose sums are requantized by wide.h; a prefix for
    both names where a call has several.
    """
    multiplier, shift = factor(call, f"{prefix}multiplier", f"{prefix}shift")
    call.require(
        shift <= _MAX_SHIFT,
        f"{prefix}shift is {shift}: of sums of int16 values it is at most {_MAX_SHIFT}",
    )
    return multiplier, shift


def wide_constants(call: OpCall, weight: AnyArray) -> dict[str, Field]:
    """The data fields weight, bias, multiplier and shift of a call whose activations are int16.

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
    reach = 2**15 * np.abs(weight.reshape(channels, -1).astype(np.int64)).sum(axis=1)
    reach += np.abs(bias.astype(np.int64))
    call.require(int(reach.max()) <= MAX_SUM, f"a sum may reach {reach.max()}, beyond 2^47")
    return {
        "weight": Constant(weight),
        "bias": Constant(bias),
        "multiplier": Constant(multiplier),
        "shift": Constant(shift),
    }
