# SPDX-License-Identifier: Apache-2.0
"""Packing for the depthwise kernels of cores with the DSP extension: four channels at a time."""

import numpy as np

from kernels.common.kernel import AnyArray, Constant
from kernels.common.quantization import halving_shifts
from kernels.common.window import Windows

PLANES = "pl_depthwise_planes_"
"""What the names of functions begin with that go channel by channel."""

_CHANNELS = 4

_STRIP_BYTES = 6144
"""Scratch for planes, if a row does not need more: the more, the fewer rows are copied twice."""


def pack_by_4(
    windows: Windows,
    weight: AnyArray,
    bias: AnyArray,
    multiplier: AnyArray,
    shift: AnyArray,
    lowest: bool,
) -> tuple[str, dict[str, Constant], int] | None:
    """The kernel, its constants and its scratch; None where these kernels are not exact.

    Args:
      windows: of the call.
      weight: int8 [kernel_h, kernel_w, channels].
      bias: [channels], the input's zero point folded in.
      multiplier, shift: int32 [channels].
      lowest: whether the output's zero point is -128.
    """
    kh, kw, channels = weight.shape
    right = halving_shifts(multiplier, shift)
    reach = np.abs(bias) + 128 * np.abs(weight.astype(np.int64)).sum(axis=(0, 1))
    if right is None or channels < _CHANNELS or reach.max() >= 2**30:
        return None
    fours = np.minimum(np.arange(0, channels, _CHANNELS), channels - _CHANNELS)
    index = fours[:, np.newaxis] + np.arange(_CHANNELS)
    taps = weight[:, :, index]  # [kernel_h, kernel_w, fours, 4]
    in_planes = (kh, kw) == (3, 3) and windows.dilation == (1, 1) and windows.stride[1] <= 2
    if in_planes and windows.output[1] > 1 and reach.max() < 2**29:
        words = taps.transpose(2, 3, 0, 1)[..., [0, 1, 1, 2]]
        words = np.ascontiguousarray(words).view(np.int32)[..., 0]
        rest = np.stack([bias[index], multiplier[index], right[index]], axis=-1)
        constants = np.concatenate([words, rest], axis=-1, dtype=np.int32, casting="unsafe")
        return (
            f"{PLANES}{'2_' * (windows.stride[1] == 2)}{'lowest_' * lowest}s8",
            {"bias": Constant(constants.reshape(-1))},
            _plane_bytes(windows),
        )
    factors = np.stack([multiplier[index], right[index]], axis=-1).reshape(len(fours), -1)
    constants = np.concatenate([bias[index], factors], axis=-1, dtype=np.int32, casting="unsafe")
    return (
        "pl_depthwise_by_4_s8",
        {
            "weight": Constant(np.ascontiguousarray(taps.transpose(2, 0, 1, 3)).reshape(-1)),
            "bias": Constant(constants.reshape(-1)),
        },
        0 if windows.are_inside else weight.size,
    )


def _plane_bytes(windows: Windows) -> int:
    """Scratch for four planes of a strip of the image."""
    output_w, stride_h = windows.output[1], windows.stride[0]
    row_words = -(-output_w // 2) + 1 if windows.stride[1] == 1 else output_w + 1
    row_bytes = 4 * _CHANNELS * row_words
    strip = max(1, (_STRIP_BYTES // row_bytes - 3) // stride_h + 1)
    return row_bytes * ((min(strip, windows.output[0]) - 1) * stride_h + 3)
