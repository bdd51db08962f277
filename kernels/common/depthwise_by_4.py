# SPDX-License-Identifier: Apache-2.0
"""Packing for the depthwise kernels of cores with the DSP extension: four channels at a time."""

import math

import numpy as np

from kernels.common.kernel import AnyArray, Constant
from kernels.common.quantization import halving_shifts
from kernels.common.window import Windows

PLANES = "pl_depthwise_planes_"
"""Prefix of functions that go channel by channel, for 3x3 windows."""

WINDOWS = "pl_depthwise_windows_s8"

TURNED = "pl_depthwise_turned_windows_s8"
"""WINDOWS for kernels one tap wide, along columns: for `Windows.turned`."""

BY_4 = "by_4_s8"
"""Suffix of functions that go window by window, for any taps."""

FEW = "pl_depthwise_few_windows_s8"
"""WINDOWS for fewer than four channels, or several of an input channel."""

_CHANNELS = 4

_OUTPUTS = 4
"""Outputs of a row computed together by WINDOWS."""

_FEW_WINDOWS = 4
"""Upper limit for the windows of an unpadded image that are faster one by one than as planes."""

_GATHERED_ROW = 35
"""Instructions for each row of an im2col window, in addition to those for its values."""

_STRIP_BYTES = 6144
"""Scratch for planes, if a row does not need more: the more, the fewer rows are copied twice."""


def pack_by_4(
    windows: Windows,
    weight: AnyArray,
    bias: AnyArray,
    multiplier: AnyArray,
    shift: AnyArray,
    lowest: bool,
    repeats: int,
    most: int | None,
) -> tuple[str, dict[str, Constant], int] | None:
    """Return the kernel, its constants and its scratch memory; None if these kernels are not exact.

    Args:
      windows: of the call, with as many input channels as there are of the output.
      weight: int8 [kernel_h, kernel_w, channels].
      bias: [channels], the input's zero point folded in.
      multiplier, shift: int32 [channels].
      lowest: the output's zero point is -128.
      repeats: output channels of an input channel.
      most: instructions of another way, None if there is none.
    """
    kh, kw, channels = weight.shape
    right = halving_shifts(multiplier, shift)
    reach = np.abs(bias) + 128 * np.abs(weight.astype(np.int64)).sum(axis=(0, 1))
    if right is None or reach.max() >= 2**30:
        return None
    few = channels < _CHANNELS or repeats > 1
    fours = np.minimum(np.arange(0, channels, _CHANNELS), max(0, channels - _CHANNELS))
    index = np.minimum(fours[:, np.newaxis] + np.arange(_CHANNELS), channels - 1)
    taps = weight[:, :, index]  # [kernel_h, kernel_w, fours, 4]
    in_planes = (kh, kw) == (3, 3) and windows.dilation == (1, 1) and windows.stride[1] <= 3
    in_planes &= not (windows.are_inside and math.prod(windows.output) <= _FEW_WINDOWS)
    if in_planes and not few and windows.output[1] > 1 and reach.max() < 2**29:
        words = taps.transpose(2, 3, 0, 1)[..., [0, 1, 1, 2]]
        words = np.ascontiguousarray(words).view(np.int32)[..., 0]
        rest = np.stack([bias[index], multiplier[index], right[index]], axis=-1)
        constants = np.concatenate([words, rest], axis=-1, dtype=np.int32, casting="unsafe")
        stride = windows.stride[1]
        return (
            f"{PLANES}{f'{stride}_' * (stride > 1)}{'lowest_' * lowest}s8",
            {"bias": Constant(constants.reshape(-1))},
            _plane_bytes(windows, (windows.output[1] - 1) * stride // 2 + 2),
        )
    factors = np.stack([multiplier[index], right[index]], axis=-1).reshape(len(fours), -1)
    constants = np.concatenate([bias[index], factors], axis=-1, dtype=np.int32, casting="unsafe")
    by_fours = {
        "weight": Constant(np.ascontiguousarray(taps.transpose(2, 0, 1, 3)).reshape(-1)),
        "bias": Constant(constants.reshape(-1)),
    }
    turned = kw == 1 < kh and not few
    along = windows.turned if turned else windows
    others = [cost for cost in (_cost_one_by_one(windows, channels, few), most) if cost is not None]
    if _is_for_words(along) and _cost_of_words(along, channels, few) < min(others):
        outputs = -(-along.output[1] // _OUTPUTS) * _OUTPUTS
        tap_bytes = 8 // along.stride[1] * _tap_words(along) * along.kernel[0]
        scratch = tap_bytes + _plane_bytes(along, _row_words(along, outputs))
        return FEW if few else TURNED if turned else WINDOWS, by_fours, scratch
    if few:
        return None
    dense = windows.dilation[1] == 1 or kw == 1
    # Windows inside are read in place, with any dilation.
    spread = "spread_" * (not (dense or windows.are_inside))
    return f"pl_depthwise_{spread}{BY_4}", by_fours, 0 if windows.are_inside else weight.size


def _is_for_words(windows: Windows) -> bool:
    """Return True if WINDOWS, TURNED or FEW support the windows."""
    return windows.stride[1] <= 2 and 1 in (windows.dilation[1], windows.kernel[1])


def _cost_of_words(windows: Windows, channels: int, few: bool) -> int:
    """Return the instructions of WINDOWS, TURNED or FEW, from those of their parts."""
    (kh, _), (oh, ow), words = windows.kernel, windows.output, _tap_words(windows)
    inputs = (26 // min(channels, _CHANNELS) if few else 2) * windows.input[0] * windows.input[1]
    four_outputs = kh * (9 + (7 + windows.stride[1]) * words) + 100
    by_rows = oh * -(-ow // _OUTPUTS) * four_outputs + 15 * kh * words + 80 + inputs
    return by_rows * channels


def _cost_one_by_one(windows: Windows, channels: int, few: bool) -> int:
    """Return the instructions for single windows, with im2col for those reaching into padding."""
    (kh, kw), (oh, ow) = windows.kernel, windows.output
    gathering = windows.padded * kh * (_GATHERED_ROW + kw * channels)
    of_window = (
        channels * (8 * kh * kw + 50) + 150
        if few
        else -(-channels // _CHANNELS) * (13 * kh * kw + 108)
    )
    return oh * ow * (of_window + int(gathering))


def _tap_words(windows: Windows) -> int:
    """Return the words of a row of taps that begins with a word."""
    width = windows.kernel[1]
    return width // 2 + 1 if windows.stride[1] == 1 else -(-width // 2)


def _row_words(windows: Windows, outputs: int) -> int:
    """Return the words of a plane's row, for the windows of this many outputs."""
    words = -(-outputs // 2) if windows.stride[1] == 1 else outputs
    return words + _tap_words(windows) - 1


def _plane_bytes(windows: Windows, row_words: int) -> int:
    """Return the scratch memory for four planes of a strip of the image."""
    stride_h, taps = windows.stride[0], (windows.kernel[0] - 1) * windows.dilation[0] + 1
    row_bytes = 4 * _CHANNELS * row_words
    strip = max(1, (_STRIP_BYTES // row_bytes - taps) // stride_h + 1)
    return row_bytes * ((min(strip, windows.output[0]) - 1) * stride_h + taps)
