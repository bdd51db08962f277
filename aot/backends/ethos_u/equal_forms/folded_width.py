# SPDX-License-Identifier: Apache-2.0
"""pl::conv2d of up to four channels, folded along the width.

Neighbouring pixels become the channels of one, and neighbouring results the channels of one. Both
are RESHAPEs. Windows start at multiples of a folded pixel, with weights of 0 around the kernel, so
padding stays the convolution's own. The NPU reads eight channels at once, and a thin input leaves
most of them empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters import conv2d
from aot.backends.ethos_u.emitters.conv2d import bad_kernel, windows_of
from aot.backends.ethos_u.emitters.windows import LARGEST_STRIDE
from aot.backends.ethos_u.equal_forms.row import EqualForm
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu

_MOST_CHANNELS = 4
_RESULTS = (1, 2, 4, 8, 16)  # results that become one
_LEAST_STEPS = 16  # of the output stage, for 16 results
_GAIN = 0.95


@dataclass(frozen=True)
class _Fold:
    """A fold of the width.

    Attributes:
      results, pixels: neighbours that become channels of one.
      before, after: padding, in folded pixels.
      shift: weights of 0 in front of the kernel of the first result.
      taps: width of the kernel, in folded pixels.
    """

    results: int
    pixels: int
    before: int
    after: int
    shift: int
    taps: int


def _steps(height: int, taps: int, channels: int) -> int:
    """Return the MAC cycles for 16 results on U55-128, by taps or by channels first."""
    area = height * taps
    return 4 * min(-(-area // 4) * -(-channels // 8), area * -(-channels // 32))


def _fold(
    width: int, windows: int, kernel: Sequence[int], stride: int, before: int, channels: int
) -> _Fold | None:
    """Return the fold with the fewest cycles; None if none is better than the convolution as it
    is.
    """
    best = max(_LEAST_STEPS, _steps(kernel[0], kernel[1], channels)) * _GAIN
    found = None
    for results in _RESULTS:
        pixels = results * stride
        if pixels == 1 or width % pixels or windows % results:
            continue
        padding = -(-before // pixels)
        shift = padding * pixels - before
        taps = -(-(shift + (results - 1) * stride + kernel[1]) // pixels)
        after = windows // results - 1 + taps - width // pixels - padding
        cost = max(_LEAST_STEPS, _steps(kernel[0], taps, pixels * channels))
        if after >= 0 and cost < best and not bad_kernel((kernel[0], taps), (1, 1)):
            best, found = cost, _Fold(results, pixels, padding, after, shift, taps)
    return found


def _matches(
    npu: Npu,
    input: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    **_: object,
) -> bool:
    n, _height, width, channels = input.shape
    kernel = weight.shape[1:3]
    fits = n == 1 and groups == 1 and channels <= _MOST_CHANNELS and input.dtype is torch.int8
    if not fits or max(dilation) > 1 or max(stride) > LARGEST_STRIDE or kernel[1] == 1:
        return False
    windows = windows_of(input, kernel, stride, padding, dilation)
    return _fold(width, windows[1], kernel, stride[1], padding[2], channels) is not None


def _emit(
    graph: TosaGraph,
    input: TosaValue,
    weight: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> TosaValue:
    n, height, width, channels = input.shape
    outputs, *kernel, _ = weight.shape
    windows = windows_of(input, kernel, stride, padding, dilation)
    fold = _fold(width, windows[1], kernel, stride[1], padding[2], channels)
    assert fold is not None  # it matches
    own = torch.zeros(
        fold.results, outputs, kernel[0], fold.taps * fold.pixels, channels, dtype=weight.dtype
    )
    for result in range(fold.results):
        first = fold.shift + result * stride[1]
        own[result, :, :, first : first + kernel[1]] = weight
    biases, multipliers, shifts = (v.repeat(fold.results) for v in (bias, multiplier, shift))
    y = conv2d.emit(
        graph,
        graph.reshape(input, (n, height, width // fold.pixels, fold.pixels * channels)),
        own.reshape(fold.results * outputs, kernel[0], fold.taps, fold.pixels * channels),
        biases,
        multipliers,
        shifts,
        [stride[0], 1],
        [*padding[:2], fold.before, fold.after],
        [1, 1],
        1,
        input_zero_point,
        output_zero_point,
        activation_min,
        activation_max,
    )
    return graph.reshape(y, (n, *windows, outputs))


FORM = EqualForm("folded_width", ("conv2d",), _matches, _emit)
