# SPDX-License-Identifier: Apache-2.0
"""Packing for kernels/common/gemm_s8.h, shared by conv2d and linear."""

from collections.abc import Callable

import numpy as np

from kernels.common.kernel import INT32_MAX, AnyArray, Constant, Isa, OpCall
from kernels.common.quantization import halving_shifts

SCALAR_CHANNELS = 4
"""Output channels whose weights the scalar kernel interleaves."""


def packed_channels(channels: int, isa: Isa) -> int:
    """Return the padded channels of a group: the length of its bias and factor arrays."""
    return channels if isa == "mve" else -(-channels // SCALAR_CHANNELS) * SCALAR_CHANNELS


def rows_at_a_time(depth: int, isa: Isa) -> int:
    """Return how many rows one call gathers.

    More rows take more memory and fewer loads of constants.
    """
    return max(2, min(8, 2048 // depth) & ~1) if isa == "mve" else 2


def unordered_rows(rows: int, isa: Isa) -> int:
    """Return how many of the rows of one call have results in any order."""
    return rows if isa == "mve" else 2


def pack(
    call: OpCall,
    weight: AnyArray,
    bias: AnyArray,
    multiplier: AnyArray,
    shift: AnyArray,
    input_zero_point: int,
    isa: Isa,
    groups: int = 1,
) -> dict[str, Constant]:
    """Return the data fields weight, bias, multiplier and, where `output_stage` has it, shift.

    Args:
      weight: int8 [groups * channels, depth].
      bias, multiplier, shift: int32 [groups * channels].
      input_zero_point: folded into the bias.
    """
    folded = fold_zero_point(call, weight, bias, input_zero_point)
    channels, depth = weight.shape[0] // groups, weight.shape[1]
    padding = packed_channels(channels, isa) - channels

    def vector(values: AnyArray) -> Constant:
        grouped = values.reshape(groups, channels)
        return Constant(np.pad(grouped, ((0, 0), (0, padding))).astype(np.int32).reshape(-1))

    matrix = weight.reshape(groups, channels, depth)
    stage = {"multiplier": vector(multiplier), "shift": vector(shift)}
    if isa != "mve":
        stage = output_stage(multiplier, shift, reach(folded, weight), vector)
        padded = np.pad(matrix, ((0, 0), (0, padding), (0, 0)))
        blocks = padded.reshape(groups, -1, SCALAR_CHANNELS, depth)
        matrix = np.ascontiguousarray(blocks.transpose(0, 1, 3, 2))
    return {
        "weight": Constant(matrix.astype(np.int8).reshape(-1)),
        "bias": vector(folded),
        **stage,
    }


def output_stage(
    multiplier: AnyArray,
    shift: AnyArray,
    reach: AnyArray,
    vector: Callable[[AnyArray], Constant] = Constant,
) -> dict[str, Constant]:
    """Return the data fields multiplier and shift of pl_output_stage.

    There is no shift if all factors divide and all sums are within the bounds of
    pl_requantize_down.

    Args:
      multiplier, shift: int32 [channels].
      reach: [channels], of the sums by magnitude.
      vector: makes a constant of a value a channel, with padding.
    """
    right = halving_shifts(multiplier, shift)
    if right is None or reach.max() >= 2**30:
        return {"multiplier": vector(multiplier), "shift": vector(shift)}
    pairs = np.stack([vector(multiplier).array, vector(right).array], axis=-1)
    return {"multiplier": Constant(np.ascontiguousarray(pairs, np.int32).reshape(-1))}


def reach(bias: AnyArray, weight: AnyArray, magnitude: int = 128) -> AnyArray:
    """Return the largest possible sums of channels; weight is [channels, taps], inputs up to
    magnitude.
    """
    taps = np.abs(weight.astype(np.int64)).sum(axis=1)
    most: AnyArray = np.abs(bias.astype(np.int64)) + magnitude * taps
    return most


def fold_zero_point(
    call: OpCall, weight: AnyArray, bias: AnyArray, input_zero_point: int, magnitude: int = 128
) -> AnyArray:
    """Return bias[o] - input_zero_point * sum of weight[o], checked against overflow of the sums.

    weight is [channels, taps], inputs are at most `magnitude`. With padding, taps read as the zero
    point, so the result is exact.
    """
    wide = weight.astype(np.int64)
    folded: AnyArray = bias.astype(np.int64) - input_zero_point * wide.sum(axis=1)
    most = reach(folded, weight, magnitude)
    worst = int(most.argmax())
    call.require(
        int(most[worst]) <= INT32_MAX,
        f"the sum of output channel {worst} may reach {int(most[worst])} and overflow int32",
    )
    return folded
