# SPDX-License-Identifier: Apache-2.0
"""Choice of dense convolutions for convolutions dilated along rows, with zero weights between taps.

A row of a window is then one run, and four windows may be computed together.
"""

import numpy as np

from kernels.common.gemm import SCALAR_CHANNELS
from kernels.common.kernel import AnyArray
from kernels.common.window import Windows

_ZEROS_OF_A_TAP = 20
"""Zero products, over all outputs, that take less time than a separate im2col copy of one tap."""

_MOST_ZEROS = 200
"""Most zeros per window. With more, rows are as slow as products of few taps in large windows."""


def pay(windows: Windows, outputs: int, spread: str, dense: str) -> bool:
    """Return True if the dense form takes less time and its zeros take little flash.

    Args:
      windows: of the dilated convolution, in one group.
      outputs: channels.
      spread, dense: the functions for either form.
    """
    (kh, kw), c = windows.kernel, windows.input_c
    taps = kh * kw
    zeros = kh * (kw - 1) * (windows.dilation[1] - 1) * c
    if zeros == 0 or spread not in ("pl_conv2d_spread_pairs_s8", "pl_conv2d_spread_s8"):
        return False
    if (spread, dense) == ("pl_conv2d_spread_pairs_s8", "pl_conv2d_pairs_s8"):
        # Gathering spread taps skips those outside of the image.
        outside = taps - _taps_inside(windows)
        saved = 60 + 36 * kh + taps * (13 + 4 * c) - outside * (80 + 15 * c)
        return saved > 1.6 * zeros * ((outputs + 1) // 2 + 1)
    if dense == "pl_conv2d_runs_s8":
        outputs += -outputs % SCALAR_CHANNELS
    elif dense != "pl_conv2d_rows_s8":
        return False
    return zeros <= _MOST_ZEROS and zeros * outputs <= _ZEROS_OF_A_TAP * taps


def _taps_inside(windows: Windows) -> float:
    """Return the average number of taps of a window inside the input."""
    inside = 1.0
    for d in range(2):
        starts = np.arange(windows.output[d]) * windows.stride[d] - windows.padding[2 * d]
        at: AnyArray = np.add.outer(np.arange(windows.kernel[d]) * windows.dilation[d], starts)
        inside *= float(((at >= 0) & (at < windows.input[d])).sum()) / windows.output[d]
    return inside
