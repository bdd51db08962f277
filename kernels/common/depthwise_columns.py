# SPDX-License-Identifier: Apache-2.0
"""Packing for the depthwise kernel of cores with Helium: channels as planes of columns."""

import numpy as np

from kernels.common.kernel import AnyArray, Constant
from kernels.common.window import Windows

_PLANES = 16
_CHANNELS = 4
_VECTOR = 16
_EIGHT = 8

_PART_BYTES = 1536
"""Scratch for rows of windows, if one does not need more: the more, the fewer begin anew."""

_RUN_BYTES = 16
"""Size of the kernel's record for a row of the kernel: the positions of its pixels."""

_MOST_PLANE_BYTES = (2**16 - 1) // _PLANES
"""Planes are reached with offsets of 16 bits."""


def pack_columns(
    windows: Windows, weight: AnyArray, bias: AnyArray, multiplier: AnyArray, shift: AnyArray
) -> tuple[str, dict[str, Constant], int] | None:
    """Return the kernel, its constants and its scratch memory; None if it is not exact.

    Args:
      windows: of the call, with as many input channels as there are of the output.
      weight: int8 [kernel_h, kernel_w, channels].
      bias: [channels], the input's zero point folded in.
      multiplier, shift: int32 [channels].
    """
    kh, kw, channels = weight.shape
    shift = np.where(multiplier == 0, -1, shift)
    if shift.max() >= 0 or kh * kw > _MOST_PLANE_BYTES:
        return None
    more = max(0, _CHANNELS - channels)
    weight = np.pad(weight, ((0, 0), (0, 0), (0, more)))
    bias, multiplier = np.pad(bias, (0, more)), np.pad(multiplier, (0, more))
    shift = np.pad(shift, (0, more), constant_values=-1)
    fours = np.minimum(np.arange(0, channels, _CHANNELS), channels + more - _CHANNELS)
    index = fours[:, np.newaxis] + np.arange(_CHANNELS)
    factors = np.stack([bias[index], multiplier[index]], axis=1)
    return (
        "pl_depthwise_columns_s8" if kh * kw <= _VECTOR else "pl_depthwise_large_columns_s8",
        {
            "weight": Constant(weight.transpose(2, 1, 0)[index].reshape(-1)),
            "factors": Constant(factors.astype(np.int32).reshape(-1)),
            "shift": Constant(shift[index].astype(np.int8).reshape(-1)),
        },
        _whole_rows(windows),
    )


def scratch_of_columns(windows: Windows, count: int, rows: int = 1) -> int:
    """Return the bytes of scratch memory for rows of this many windows at once."""
    planes = _planes(windows)
    runs = windows.kernel[0] * (1 if _is_dense(windows) else windows.kernel[1])
    return runs * _RUN_BYTES + planes * rows * _row_bytes(windows, count) + _VECTOR


def cost_of_columns(windows: Windows) -> int:
    """Return an estimated cost, halfway between instructions and cycles, as `cost_of_direct`.

    The terms are rows of taps and copied bytes, by eight channels, and sums, by four.
    """
    (kh, kw), (oh, ow) = windows.kernel, windows.output
    eights, fours = -(-windows.input_c // _EIGHT), -(-windows.input_c // _CHANNELS)
    rows = windows.batches * oh
    runs, copied = eights * rows * kh, eights * rows * _row_bytes(windows, ow)
    sums = fours * rows * ow
    if kh * kw > _VECTOR:
        vectors = -(-kh * kw // _VECTOR)
        return round(720 + 14 * runs + 13 * copied + sums * (51 + 20 * vectors))
    return round(593 + 19 * runs + 6.8 * copied + fours * 68 + 37.4 * sums)


def _planes(windows: Windows) -> int:
    """Return the number of planes in scratch together."""
    return min(max(windows.input_c, _CHANNELS), _PLANES)


def _is_dense(windows: Windows) -> bool:
    """Return True if all columns reached by the windows of a row are copied.

    Otherwise the columns of each window are copied separately. Unused columns lie between its taps
    then, or between windows of one column.
    """
    return windows.dilation[1] == 1 and (windows.stride[1] == 1 or windows.kernel[1] > 1)


def _row_bytes(windows: Windows, count: int) -> int:
    """Return the bytes of a plane."""
    kh, kw = windows.kernel
    step = windows.stride[1] if _is_dense(windows) else kw
    return ((count - 1) * step + kw) * kh


def _whole_rows(windows: Windows) -> int:
    """Return the scratch for as many whole rows as go together, or the allowed maximum for one."""
    oh, ow = windows.output
    row = _row_bytes(windows, ow)
    if row > _MOST_PLANE_BYTES:
        count = ow * (_MOST_PLANE_BYTES - _row_bytes(windows, 1)) // row + 1
        return scratch_of_columns(windows, count)
    rows = max(1, min(oh, _PART_BYTES // (_planes(windows) * row)))
    return scratch_of_columns(windows, ow, rows)
