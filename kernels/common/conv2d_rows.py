# SPDX-License-Identifier: Apache-2.0
"""Where conv2d_rows_s8 pays, which takes four windows of a row at a time, channel by channel."""

import math

from kernels.common.kernel import Isa
from kernels.common.window import Windows

_WINDOWS = 4

_LEAST_WINDOWS = 3
"""Of a row, which take as long as four; two pay where there are few channels."""

_FEW_CHANNELS = 4

_INPUTS: dict[Isa, tuple[int, ...]] = {
    "scalar": (64, 64, 64, 12, 32, 32),
    "dsp": (64, 20, 12, 5, 5),
}
"""Channels of a group, at most, with 1, 2, ... outputs: with more of them, products of gathered
windows take less, or rows take much memory. With the DSP extension windows count as channels that
are computed again with the last four of a row."""

_INPUTS_IN_PLACE = 7
"""The same with the DSP extension, of one output, of windows one pixel wide, which products take
right from the image; of more outputs they take less."""

_INPUTS_OF_PIXELS = 24
"""The same of windows that are pixels, whose products take rows one by one."""

_OUTPUTS_OF_ALL = {"scalar": 3, "dsp": 1}
"""Where there is one group."""

_PADDED_CHANNELS = 5
"""Inputs and outputs together, at most, with the DSP extension, of windows many of which reach into
padding: rows are copied once, not window by window."""

_MANY_PADDED = 0.4
"""Of all windows; of one input channel any."""

_LEAST_VALUES = {"one channel": 4, "several": 16}
"""That such a convolution gives, of so many input channels: for fewer, 2 KB of code are too much.
"""

_FEW_WEIGHTS = 8
"""Of a window in a group, for each of its taps, at most, where a row has but two windows."""

_EIGHT = 8
"""Channels that depthwise_conv2d_s8 takes together."""

_THREE = 3
"""Values of a run that are taken without a loop."""

_ROW_BYTES = 1024
"""Scratch for windows of a row that depthwise_conv2d_s8 copies together."""

_MANY_TAPS = 9
"""Of dilated windows that go by four in a row on cores with DSP extension."""


def pays_for_groups(windows: Windows, groups: int, outputs: int, inputs: int, isa: Isa) -> bool:
    """Whether it takes less than gathering windows and multiplying them: groups have few channels.
    Those of several have the taps of a row in one run.

    Args:
      windows: of the call.
      groups: of channels.
      outputs, inputs: channels of a group.
      isa: of the core.
    """
    dense = windows.dilation[1] == 1 or windows.kernel[1] == 1
    in_place = isa == "dsp" and windows.kernel[1] == 1
    one = _INPUTS_OF_PIXELS if windows.cover_input else _INPUTS_IN_PLACE
    most = (one,) if in_place else _INPUTS[isa]
    again = -(-windows.output[1] // _WINDOWS) * _WINDOWS / windows.output[1] if isa == "dsp" else 1
    few = inputs == 1 or (outputs <= len(most) and inputs * again <= most[outputs - 1])
    few |= isa == "scalar" and groups == 1 and windows.are_inside
    values = math.prod(windows.output) * outputs
    least = _LEAST_VALUES["one channel" if inputs == 1 else "several"]
    of_all = outputs <= _OUTPUTS_OF_ALL[isa] or _copied_once(windows, outputs, inputs, isa)
    enough = groups > 1 or (of_all and values >= least)
    by_channel = inputs == 1 and groups > 1
    two_pay = windows.input_c < _FEW_CHANNELS if by_channel else inputs * outputs <= _FEW_WEIGHTS
    has_windows = windows.output[1] >= (2 if two_pay else _LEAST_WINDOWS)
    if isa == "scalar" and groups == 1 and outputs > _OUTPUTS_OF_ALL[isa] and not windows.are_runs:
        product = _cost_of_product(windows, outputs, inputs)
        few = enough = values >= least and 10 * cost(windows, outputs, inputs) < 9 * product
    return few and (dense or inputs == 1) and enough and has_windows


def _copied_once(windows: Windows, outputs: int, inputs: int, isa: Isa) -> bool:
    """Whether copying a row of padded windows takes so much less than copying these one by one that
    there may be several outputs.
    """
    if isa != "dsp" or windows.are_inside or outputs > _OUTPUTS_OF_ALL["scalar"]:
        return False
    if inputs == 1:
        return True
    few = inputs + outputs <= _PADDED_CHANNELS and -windows.output[1] % _WINDOWS <= 1
    return few and windows.padded >= _MANY_PADDED


def pays_for_channels(windows: Windows, repeats: int, isa: Isa) -> bool:
    """Whether it takes less than four channels or eight of a window: where there are fewer, or some
    left over (with eights alone it would save less than a fifth mostly, and be one more kernel),
    inputs repeat, or windows are gathered tap by tap; with the DSP extension the last is so for
    many taps, if few windows of a row are computed again with the last four.

    Args:
      windows: of the call.
      repeats: output channels of an input channel.
      isa: of the core.
    """
    (kh, kw), (_, ow) = windows.kernel, windows.output
    spread = windows.dilation[1] > 1 and not windows.are_inside
    if isa == "dsp":
        spread = spread and kh * kw >= _MANY_TAPS and -ow % _WINDOWS <= ow // 10
    few = windows.input_c < _EIGHT or repeats > 1 or spread
    if isa == "scalar" and 0 < windows.input_c % _EIGHT <= _EIGHT // 2:
        few |= 20 * cost(windows, windows.input_c) < 19 * _cost_by_pixel(windows)
    return few and windows.output[1] >= (2 if windows.input_c < _FEW_CHANNELS else _LEAST_WINDOWS)


def cost(windows: Windows, channels: int, inputs: int = 1) -> int:
    """Instructions for so many output channels, about: for a depthwise convolution, or of several
    input channels in one group.
    """
    (kh, kw), (oh, ow) = windows.kernel, windows.output
    run = kw * inputs
    runs, threes, rest = (
        (1, kh, 0) if run == _THREE else (kh, kh * (run // _THREE), kh * (run % _THREE))
    )
    four = 75 + 13 * runs + (34 if inputs == 1 else 31) * threes + 12 * rest
    one = 26 + 42 * kh * run // 5
    of_row = 65 + (ow + 2) // _WINDOWS * four + (ow % _WINDOWS == 1) * one
    gathered = 0 if windows.are_inside else kh * _cost_of_copy(windows.row_values(ow))
    return oh * (160 + channels * of_row + gathered)


def copies_rows(windows: Windows) -> bool:
    """Whether depthwise_conv2d_s8 copies all windows of a row as one, which takes less than those
    that reach into padding one by one.
    """
    (kh, _), (oh, ow) = windows.kernel, windows.output
    row = windows.row_values(ow)
    if windows.are_inside or windows.dilation != (1, 1) or kh * row > _ROW_BYTES or ow == 1:
        return False
    return oh * kh * _cost_of_copy(row) < _cost_one_by_one(windows)


def _cost_of_copy(count: int) -> int:
    """Of a row of so many bytes."""
    return 85 + 5 * count // 9


def _cost_one_by_one(windows: Windows) -> int:
    """Of copying windows that reach into padding."""
    (kh, kw), (oh, ow), inside = windows.kernel, windows.output, windows.inside
    padded = oh * ow - inside[0] * inside[1]
    return padded * kh * _cost_of_copy(kw * windows.input_c)


def _cost_of_product(windows: Windows, outputs: int, inputs: int) -> int:
    """Likewise of gathered windows, multiplied with four outputs at a time."""
    (kh, kw), (oh, ow) = windows.kernel, windows.output
    of_four = 36 * kh * kw * inputs // 5 - 18
    return oh * ow * (125 + 60 * kh + 28 * outputs + -(-outputs // 4) * of_four)


def _cost_by_pixel(windows: Windows) -> int:
    """Likewise of depthwise_conv2d_s8; up to four channels that eights leave over take less."""
    (kh, kw), (oh, ow), c = windows.kernel, windows.output, windows.input_c
    eights, rest = (c + _EIGHT // 2 - 1) // _EIGHT, 0 < c % _EIGHT <= _EIGHT // 2
    eight, four = 193 + 136 * kh * kw // 5, 159 + 89 * kh * kw // 5
    copied = oh * kh * _cost_of_copy(windows.row_values(ow))
    gathered = copied if copies_rows(windows) else _cost_one_by_one(windows)
    return oh * ow * (70 + eights * eight + rest * four) + gathered
