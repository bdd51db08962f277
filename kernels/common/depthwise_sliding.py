# SPDX-License-Identifier: Apache-2.0
"""Packing for pl_depthwise_sliding_s8: 3x3 windows on cores with 16-bit Thumb instructions."""

from collections.abc import Iterator

import numpy as np

from kernels.common.gemm import reach
from kernels.common.kernel import INT32_MAX, AnyArray, Constant, OpCall
from kernels.common.overlap import Overlap, overlap
from kernels.common.quantization import activation_range, zero_point
from kernels.common.steps import Steps
from kernels.common.window import Windows

_SIDE = 3
_STRIDES = (1, 2)
_SCRATCH = 3584
"""Bytes of rows copied together, with padding."""

_LITTLE = 1024
"""Scratch too small for a choice of less."""

_MOST_WIDTH = 1 << 24


def pack_sliding(
    call: OpCall,
    windows: Windows,
    weight: AnyArray,
    bias: AnyArray,
    multiplier: AnyArray,
    shift: AnyArray,
) -> tuple[str, dict[str, Constant]] | None:
    """Return the function and its data fields; None for other windows, or if a channel has no
    constants.

    Args:
      call: with the output's zero point and range.
      windows: one output channel for each input channel.
      weight: int8 [3, 3, channels].
      bias: [channels], the input's zero point folded in.
      multiplier, shift: int32 [channels].
    """
    is_side = windows.kernel == (_SIDE, _SIDE) and windows.dilation == (1, 1)
    if not is_side or windows.stride[1] not in _STRIDES:
        return None
    if windows.output[1] * windows.input_c >= _MOST_WIDTH:
        return None
    low, top = activation_range(call).values()
    steps = Steps.of(multiplier, shift, zero_point(call, "output_zero_point"), low, top)
    taps = weight.reshape(_SIDE * _SIDE, -1).T
    if steps is None or (reach(bias, taps) + np.abs(steps.first)).max() >= INT32_MAX:
        return None
    rows = (taps.astype(np.int64) & 255).reshape(-1, _SIDE, _SIDE)
    words = rows[..., 0] | rows[..., 1] << 8 | rows[..., 2] << 16
    stage = [bias - steps.first, steps.limit, steps.high, steps.fine, steps.offset]
    stage += [steps.turn, -steps.less] if steps.signed else []
    packed = np.concatenate([words, np.stack(stage, axis=1)], axis=1).astype(np.uint64)
    strided = "2_" * (windows.stride[1] == 2)
    return f"pl_depthwise_sliding_{strided}{'signed_' * steps.signed}s8", {
        "bias": Constant(packed.astype(np.uint32).view(np.int32).reshape(-1))
    }


def scratch_of_sliding(windows: Windows, band: int) -> int:
    """Return the scratch for so many rows of the output."""
    columns = (windows.output[1] - 1) * windows.stride[1] + _SIDE
    return ((band - 1) * windows.stride[0] + _SIDE) * columns * windows.input_c


def bands(windows: Windows) -> Iterator[int]:
    """Yield the useful rows of a band: as many as fit, and one if that takes much less scratch."""
    row = scratch_of_sliding(windows, 2) - scratch_of_sliding(windows, 1)
    fitting = 1 + max(0, (_SCRATCH - scratch_of_sliding(windows, 1)) // row)
    band = min(fitting, windows.output[0])
    yield band
    if band > 1 and scratch_of_sliding(windows, band) > _LITTLE:
        yield 1


def overlap_of_band(call: OpCall, windows: Windows, band: int) -> tuple[Overlap, ...]:
    """Return the overlap: all rows of a band are copied before its results."""
    starts = windows.starts.reshape(windows.batches, -1)
    at_a_time = band * windows.output[1]
    return overlap(call.tensor("input"), call.output(), starts, at_a_time, reads_first=True)
