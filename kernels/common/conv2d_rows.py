# SPDX-License-Identifier: Apache-2.0
"""Where conv2d_rows_s8 pays, which takes four windows of a row at a time, channel by channel."""

from kernels.common.kernel import Isa
from kernels.common.window import Windows

_WINDOWS = 4

_FEW_CHANNELS = 4

_FEW_WEIGHTS, _FEW_IN_PLACE = 16, 8
"""Of a tap of a group, and with the DSP extension of a tap of windows that its products take right
from the image, with one output; of more outputs they take less."""

_EIGHT = 8
"""Channels that depthwise_conv2d_s8 takes together."""

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
    in_place = isa == "dsp" and (windows.kernel[1] == 1 or groups == 1)
    outputs_most = 1 if in_place else _FEW_CHANNELS
    weights_most = _FEW_IN_PLACE if in_place else _FEW_WEIGHTS
    few = dense and outputs <= outputs_most and outputs * inputs <= weights_most
    return (few or inputs == 1) and (groups > 1 or outputs == 1) and _has_windows(windows, inputs)


def pays_for_channels(windows: Windows, repeats: int, isa: Isa) -> bool:
    """Whether it takes less than four channels or eight of a window: where there are fewer, inputs
    repeat, or windows are gathered tap by tap; with the DSP extension the last is so for many taps,
    if few windows of a row are computed again with the last four.

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
    return few and _has_windows(windows, inputs=1)


def _has_windows(windows: Windows, inputs: int) -> bool:
    """Whether a row has four; fewer are taken one by one, which pays where there is a channel or
    three.
    """
    least = 2 if inputs == 1 and windows.input_c < _FEW_CHANNELS else _WINDOWS
    return windows.output[1] >= least


def cost(windows: Windows, channels: int) -> int:
    """Instructions for a depthwise convolution, about."""
    (kh, kw), (oh, ow) = windows.kernel, windows.output
    fours = -(-ow // _WINDOWS)
    of_row = 100 + fours * (13 * kh * kw + 10 * kh + 35) + 13 * ow
    width = (ow - 1) * windows.stride[1] + (kw - 1) * windows.dilation[1] + 1
    gathered = 0 if windows.are_inside else kh * (70 + width * windows.input_c)
    return oh * (channels * of_row + gathered)
