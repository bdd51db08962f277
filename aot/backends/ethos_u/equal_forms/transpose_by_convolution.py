# SPDX-License-Identifier: Apache-2.0
"""pl::transpose in other forms.

- Few channels from first to last place, as of an NCHW image: a CONV2D with weights of 0 and 1 over
  the channels as rows. Several neighbouring pixels are channels of one.
- The same from last to first place, with rows of padding.
- Without dimensions of 1, and with neighbours that stay neighbours merged: a TRANSPOSE in fewer
  dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.equal_forms.moves import moved
from aot.backends.ethos_u.equal_forms.row import EqualForm
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu

_PIXELS = (8, 16, 4)  # that become channels of one, by preference
_MOST_FIRST, _MOST_LAST = 16, 4  # channels
_MOST_CHANNELS = 256


def _orders(shape: Sequence[int], perm: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the dimensions above 1, before and behind a transpose."""
    return [d for d in range(len(shape)) if shape[d] > 1], [d for d in perm if shape[d] > 1]


def _pixels(rest: int, channels: int) -> int:
    """Return the number of pixels that become one; 0 if none fits."""
    fitting = (n for n in _PIXELS if rest % n == 0 and n * channels <= _MOST_CHANNELS)
    return next(fitting, 0)


def _sizes(shape: Sequence[int], channels: int) -> tuple[int, int, int]:
    """Return channels, other values, and pixels that become one."""
    rest = math.prod(shape) // channels
    return channels, rest, _pixels(rest, channels)


def _is_first_to_last(npu: Npu, input: torch.Tensor, perm: Sequence[int]) -> bool:
    before, behind = _orders(input.shape, perm)
    if input.dtype is not torch.int8 or len(before) <= 1 or behind != before[1:] + before[:1]:
        return False
    channels, _, pixels = _sizes(input.shape, input.shape[before[0]])
    return channels <= _MOST_FIRST and pixels > 0


def _first_to_last(graph: TosaGraph, input: TosaValue, perm: Sequence[int]) -> TosaValue:
    before, _ = _orders(input.shape, perm)
    channels, rest, pixels = _sizes(input.shape, input.shape[before[0]])
    weight = np.zeros((pixels, channels, channels, 1, pixels))
    for pixel in range(pixels):
        weight[pixel, :, :, 0, pixel] = np.eye(channels)
    x = graph.reshape(input, (1, channels, rest // pixels, pixels))
    y = moved(graph, x, weight.reshape(pixels * channels, channels, 1, pixels))
    return graph.reshape(y, [input.shape[d] for d in perm])


def _is_last_to_first(npu: Npu, input: torch.Tensor, perm: Sequence[int]) -> bool:
    before, behind = _orders(input.shape, perm)
    if input.dtype is not torch.int8 or len(before) <= 1 or behind != before[-1:] + before[:-1]:
        return False
    channels, _, pixels = _sizes(input.shape, input.shape[before[-1]])
    return channels <= _MOST_LAST and pixels > 0


def _last_to_first(graph: TosaGraph, input: TosaValue, perm: Sequence[int]) -> TosaValue:
    before, _ = _orders(input.shape, perm)
    channels, rest, pixels = _sizes(input.shape, input.shape[before[-1]])
    weight = np.zeros((pixels, channels, 1, pixels, channels))
    for pixel in range(pixels):
        weight[pixel, :, 0, pixel] = np.eye(channels)[::-1]  # row 0 of the padded image is last
    x = graph.reshape(input, (1, 1, rest // pixels, pixels * channels))
    more = channels - 1
    kernel = weight.reshape(pixels, channels, 1, pixels * channels)
    y = moved(graph, x, kernel, (more, more, 0, 0))
    return graph.reshape(y, [input.shape[d] for d in perm])


def _merged(shape: Sequence[int], perm: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return shape and order of the same transpose in the fewest dimensions."""
    _, behind = _orders(shape, perm)
    groups: list[list[int]] = []
    position = {d: i for i, d in enumerate(d for d in range(len(shape)) if shape[d] > 1)}
    for d in behind:
        if groups and position[d] == position[groups[-1][-1]] + 1:
            groups[-1].append(d)
        else:
            groups.append([d])
    ordered = sorted(groups)
    sizes = [math.prod(shape[d] for d in group) for group in ordered]
    return sizes, [ordered.index(group) for group in groups]


def _is_smaller(npu: Npu, input: torch.Tensor, perm: Sequence[int]) -> bool:
    sizes, _ = _merged(input.shape, perm)
    return 1 < len(sizes) < input.dim()


def _in_fewer(graph: TosaGraph, input: TosaValue, perm: Sequence[int]) -> TosaValue:
    sizes, order = _merged(input.shape, perm)
    y = graph.transpose(graph.reshape(input, sizes), order)
    return graph.reshape(y, [input.shape[d] for d in perm])


FORMS = (
    EqualForm("transpose_in_fewer_dimensions", ("transpose",), _is_smaller, _in_fewer),
    EqualForm("first_to_last_by_convolution", ("transpose",), _is_first_to_last, _first_to_last),
    EqualForm("last_to_first_by_convolution", ("transpose",), _is_last_to_first, _last_to_first),
)
