# SPDX-License-Identifier: Apache-2.0
"""Cost model of conv2d_rows_s8: it computes four windows of a row at a time, channel by channel."""

import math

from kernels.common.kernel import PLAIN, Isa
from kernels.common.window import Windows

_WINDOWS = 4

_LEAST_WINDOWS = 3
"""Minimum for the windows of a row: three take as long as four. Two pay off for few channels."""

_FEW_CHANNELS = 4

_INPUTS: dict[Isa, tuple[int, ...]] = {
    "scalar": (64, 64, 64, 12, 32, 32),
    "thumb1": (64, 64, 64, 12, 32, 32),
    "dsp": (64, 20, 12, 5, 5),
}
"""Upper limit for the channels of a group, with 1, 2, ... outputs. Above it, im2col with matrix
products is faster, or rows take much memory. With the DSP extension, windows computed again with
the last four of a row count as additional channels.
"""

_INPUTS_IN_PLACE = 7
"""The same limit with the DSP extension, for one output and windows one pixel wide. Matrix products
read these directly from the image. For more outputs the products are faster.
"""

_INPUTS_OF_PIXELS = 24
"""The same limit for 1x1 windows; matrix products take their rows one by one."""

_OUTPUTS_OF_ALL = {"scalar": 3, "thumb1": 3, "dsp": 1}
"""Limit for the outputs if there is one group."""

_PADDED_CHANNELS = 5
"""Limit for inputs and outputs together, with the DSP extension, if many windows reach into
padding: rows are copied once, not window by window.
"""

_MANY_PADDED = 0.4
"""Share of padded windows; with one input channel any share."""

_LEAST_VALUES = {"one channel": 4, "several": 16}
"""Minimum for the values of such a convolution, by number of input channels. For fewer, 2 KB of
code are too much.
"""

_FEW_WEIGHTS = 8
"""Upper limit for the weights of a window in a group, for each of its taps, if a row has only two
windows.
"""

_EIGHT = 8
"""Channels computed together by depthwise_conv2d_s8."""

_THREE = 3
"""Values of a run computed without a loop."""

_ROW_BYTES = 1024
"""Scratch for windows of a row copied together by depthwise_conv2d_s8."""

_MANY_TAPS = 9
"""Minimum for the taps of dilated windows computed by four in a row, on cores with DSP
extension.
"""


def pays_for_groups(windows: Windows, groups: int, outputs: int, inputs: int, isa: Isa) -> bool:
    """Return True if it is faster than im2col with a matrix product: groups have few channels.

    The taps of a row must be contiguous for several channels.

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
    few |= isa in PLAIN and groups == 1 and windows.are_inside
    values = math.prod(windows.output) * outputs
    least = _LEAST_VALUES["one channel" if inputs == 1 else "several"]
    of_all = outputs <= _OUTPUTS_OF_ALL[isa] or _copied_once(windows, outputs, inputs, isa)
    enough = groups > 1 or (of_all and values >= least)
    by_channel = inputs == 1 and groups > 1
    two_pay = windows.input_c < _FEW_CHANNELS if by_channel else inputs * outputs <= _FEW_WEIGHTS
    has_windows = windows.output[1] >= (2 if two_pay else _LEAST_WINDOWS)
    if isa in PLAIN and groups == 1 and outputs > _OUTPUTS_OF_ALL[isa] and not windows.are_runs:
        product = _cost_of_product(windows, outputs, inputs)
        few = enough = values >= least and 10 * cost(windows, outputs, inputs) < 9 * product
    return few and (dense or inputs == 1) and enough and has_windows


def _copied_once(windows: Windows, outputs: int, inputs: int, isa: Isa) -> bool:
    """Return True if copying a whole row of padded windows saves enough to allow several outputs.

    The alternative is to copy these windows one by one.
    """
    if isa != "dsp" or windows.are_inside or outputs > _OUTPUTS_OF_ALL["scalar"]:
        return False
    if inputs == 1:
        return True
    few = inputs + outputs <= _PADDED_CHANNELS and -windows.output[1] % _WINDOWS <= 1
    return few and windows.padded >= _MANY_PADDED


def pays_for_channels(windows: Windows, repeats: int, isa: Isa) -> bool:
    """Return True if it is faster than four or eight channels of a window at a time.

    This is the case if:
    - there are fewer channels, or some left over (with eights alone it would mostly save
      less than a fifth, and add one more kernel),
    - inputs repeat, or
    - im2col copies windows tap by tap. With the DSP extension this needs many taps, and
      few windows of a row computed again with the last four.

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
    if isa in PLAIN and 0 < windows.input_c % _EIGHT <= _EIGHT // 2:
        few |= 20 * cost(windows, windows.input_c) < 19 * _cost_by_pixel(windows)
    return few and windows.output[1] >= (2 if windows.input_c < _FEW_CHANNELS else _LEAST_WINDOWS)


def cost(windows: Windows, channels: int, inputs: int = 1) -> int:
    """Return estimated instructions for this many output channels: of a depthwise convolution, or
    with several input channels in one group.
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
    """Return True if depthwise_conv2d_s8 copies all windows of a row together, because this is
    faster.

    The alternative is to copy windows reaching into padding one by one.
    """
    (kh, _), (oh, ow) = windows.kernel, windows.output
    row = windows.row_values(ow)
    if windows.are_inside or windows.dilation != (1, 1) or kh * row > _ROW_BYTES or ow == 1:
        return False
    return oh * kh * _cost_of_copy(row) < _cost_one_by_one(windows)


def _cost_of_copy(count: int) -> int:
    """Return the cost of copying a row of this many bytes."""
    return 85 + 5 * count // 9


def _cost_one_by_one(windows: Windows) -> int:
    """Return the cost of copying windows reaching into padding."""
    (kh, kw), (oh, ow), inside = windows.kernel, windows.output, windows.inside
    padded = oh * ow - inside[0] * inside[1]
    return padded * kh * _cost_of_copy(kw * windows.input_c)


def _cost_of_product(windows: Windows, outputs: int, inputs: int) -> int:
    """Return the cost of im2col windows, multiplied with four outputs at a time."""
    (kh, kw), (oh, ow) = windows.kernel, windows.output
    of_four = 36 * kh * kw * inputs // 5 - 18
    return oh * ow * (125 + 60 * kh + 28 * outputs + -(-outputs // 4) * of_four)


def _cost_by_pixel(windows: Windows) -> int:
    """Return the cost of depthwise_conv2d_s8. Up to four channels left over by the eights cost
    less.
    """
    (kh, kw), (oh, ow), c = windows.kernel, windows.output, windows.input_c
    eights, rest = (c + _EIGHT // 2 - 1) // _EIGHT, 0 < c % _EIGHT <= _EIGHT // 2
    eight, four = 193 + 136 * kh * kw // 5, 159 + 89 * kh * kw // 5
    copied = oh * kh * _cost_of_copy(windows.row_values(ow))
    gathered = copied if copies_rows(windows) else _cost_one_by_one(windows)
    return oh * ow * (70 + eights * eight + rest * four) + gathered
