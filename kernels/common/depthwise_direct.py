# SPDX-License-Identifier: Apache-2.0
"""Packing for the depthwise kernel of cores with Helium that needs no scratch: sixteen channels."""

import numpy as np

from kernels.common.kernel import AnyArray, Constant
from kernels.common.window import Windows

_LANES = 16

_ORDER = [0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15]
"""Channels as their sums come."""


def pack_direct(
    weight: AnyArray, bias: AnyArray, multiplier: AnyArray, shift: AnyArray
) -> tuple[str, dict[str, Constant]] | None:
    """The kernel and its constants; None where it is not exact.

    Args:
      weight: int8 [kernel_h, kernel_w, channels].
      bias: [channels], the input's zero point folded in.
      multiplier, shift: int32 [channels].
    """
    kh, kw, channels = weight.shape
    shift = np.where(multiplier == 0, -1, shift)
    if weight.min() == -128 or shift.max() >= 0:
        return None
    more = -channels % _LANES
    taps = np.pad(weight.reshape(kh * kw, channels), ((0, 0), (0, more)))
    taps = taps.reshape(kh * kw, -1, _LANES).swapaxes(0, 1)
    vectors = np.pad(np.stack([bias, multiplier, shift]), ((0, 0), (0, more)))
    vectors = vectors.reshape(3, -1, _LANES)[:, :, _ORDER].swapaxes(0, 1)
    return (
        "pl_depthwise_direct_s8",
        {
            "weight": Constant(np.ascontiguousarray(taps).reshape(-1)),
            "bias": Constant(np.ascontiguousarray(vectors, np.int32).reshape(-1)),
        },
    )


def cost_of_direct(windows: Windows) -> int:
    """Instructions, about: by pixel, sixteen channels, row of the kernel, and two taps of it."""
    kh, kw = windows.kernel
    pixels = windows.batches * windows.output[0] * windows.output[1]
    groups = -(-windows.input_c // _LANES)
    return 70 + pixels * (92 + groups * (73 + kh * (13 + 29 * -(-kw // 2))))
