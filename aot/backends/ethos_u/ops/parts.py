# SPDX-License-Identifier: Apache-2.0
"""Layout of a norm's parts, and their sums on the NPU.

Parts that are rows lie over the width, [1, 1, rows, values], like other ops with rows, or over the
height, [1, rows, 1, values]. The choice changes cycles, not numbers:

- U65: Vela cuts operations over a height into stripes. They pass through the SRAM one
  by one.
- U85: over a height, blocks of element-wise operations are larger. Blocks of
  convolutions are smaller, unless they are two wide.

Each 16-bit sum on U85 is two results per row, each over half of the values. The weights are zero in
half of each group of four. This takes half of the cycles, and the second result takes none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from aot.backends.ethos_u.block import INT32, Array
from aot.backends.ethos_u.steps import T, TosaSteps, scale32
from aot.backends.npus import Npu

_LARGEST_HEIGHT, _LARGEST_AREA = 64, 4096  # of a kernel
_BLOCK_HEIGHT, _BLOCK_WIDTHS = 4, range(16, 7, -1)  # blocks that U85 reads alone
_ONE = scale32(1.0)


@dataclass(frozen=True)
class Parts:
    """Parts of an input: rows of values over width or height, or channel groups of images.

    Images are [batch, height, width, channels].

    Attributes:
      shape: of the input.
      order: required order of the input's dimensions.
      laid: the shape, of four dimensions.
      groups: of an image's channels; 0: the parts are rows.
      turns: True if int16 convolutions go over the width, regardless of the other
        operations.
      halves: True if sums of int16 values are added from the sums of their halves.
    """

    shape: tuple[int, ...]
    order: tuple[int, ...]
    laid: tuple[int, int, int, int]
    groups: int
    turns: bool = False
    halves: bool = False

    def suited(self, npu: Npu) -> Parts:
        """Return the layout with the fewest NPU cycles."""
        return replace(self, halves=npu.is_u85 and not self.groups)

    def suited_as_border(self, npu: Npu) -> Parts:
        """Return the layout for values that are an input of the region; on U65 also for
        an output.
        """
        if self.groups or not (npu.keeps_inputs_far or npu.is_u85):
            return self
        width = 2 if npu.is_u85 and self.number % 2 == 0 else 1
        laid = (1, self.number // width, width, self.channels)
        return replace(self, laid=laid, turns=npu.is_u85)

    @property
    def count(self) -> int:
        """Values in a part."""
        _, height, width, channels = self.laid
        return height * width * channels // self.groups if self.groups else channels

    @property
    def number(self) -> int:
        batch, height, width, _ = self.laid
        return batch * self.groups if self.groups else height * width

    @property
    def channels(self) -> int:
        return self.laid[3]

    def by_channel(self, constant: torch.Tensor, rank: int) -> Array:
        """Return a constant broadcasting to the input, for each channel: float64."""
        spread = (1,) * (rank - constant.dim()) + tuple(constant.shape)
        values = constant.to(torch.float64).reshape(spread).expand(self.shape).permute(self.order)
        return np.asarray(values.reshape(-1, self.channels)[0])

    def laid_out(self, steps: TosaSteps[T], x: T) -> T:
        moved = steps.transpose(x, self.order) if self._is_moved else x
        return steps.reshape(moved, self.laid)

    def restored(self, steps: TosaSteps[T], y: T) -> T:
        y = steps.reshape(y, [self.shape[d] for d in self.order])
        return steps.transpose(y, np.argsort(self.order).tolist()) if self._is_moved else y

    def for_convolution(self, steps: TosaSteps[T], x: T) -> T:
        """Return int16 values in the layout of a 1x1 convolution."""
        return steps.reshape(x, (1, 1, self.number, self.channels)) if self.turns else x

    def twice_the_sums(self, steps: TosaSteps[T], x: T, bits: int) -> T:
        """Return twice the sums of int8 values, times 2^bits: int32 [1, 1, 1, number]."""
        weights = self._all_of(2)
        sums = self._sums(steps, x, weights, self._biases(weights, 0))
        return self._added(steps, sums, scale32(2.0**bits))

    def sums(self, steps: TosaSteps[T], x: T, bits: int, added: float) -> T:
        """Return the sums of int16 values, plus `added`, times 2^bits: int32 [1, 1, 1, number]."""
        scale = 1 << 14, 14 - bits
        weights = self._each_half() if self.halves else self._all_of(1)
        wanted = self._biases(weights, round(added))
        biases = steps.biases_of_sums(weights, scale, wanted)
        if self.halves:
            total = self._sums_of_halves(steps, x, weights, biases, scale)
        else:
            x = x if self.groups else self.for_convolution(steps, x)
            total = self._added(steps, self._sums(steps, x, weights, biases), scale)
        if not (rest := wanted - biases).any():
            return total
        by_part = rest.reshape(self.groups or 1, -1).sum(1)
        repeated = np.tile(by_part, self.laid[0]).reshape(1, 1, 1, -1)
        return steps.add(total, steps.constant(repeated << bits, INT32))

    def _sums_of_halves(
        self, steps: TosaSteps[T], x: T, weights: Array, biases: Array, scale: tuple[int, int]
    ) -> T:
        fits = (w for w in _BLOCK_WIDTHS if self.number % (_BLOCK_HEIGHT * w) == 0)
        width = next(fits, self.number)
        x = steps.reshape(x, (1, self.number // width, width, self.channels))
        sums = steps.rescale(steps.conv2d(x, weights, biases, 0), *scale, INT32)
        both = steps.reshape(sums, (1, 1, self.number, 2))
        size = (1, 1, self.number, 1)
        total = steps.add(*(steps.slice(both, (0, 0, 0, half), size) for half in (0, 1)))
        return steps.reshape(total, (1, 1, 1, self.number))

    def _sums(self, steps: TosaSteps[T], x: T, weights: Array, biases: Array) -> T:
        """Return the sums before RESCALE, by row, or by channel of an image."""
        convolution = steps.depthwise_conv2d if self.groups else steps.conv2d
        return convolution(x, weights, biases, 0)

    def _biases(self, weights: Array, added: int) -> Array:
        """Return the biases of a convolution. Several results of one part are added up later."""
        results = self.channels if self.groups else weights.shape[0]
        biases = np.zeros(results, np.int64)
        biases[:: results // (self.groups or 1)] = added
        return biases

    def _all_of(self, weight: int) -> Array:
        """Return weights that sum rows, or the channels of an image."""
        _, height, width, channels = self.laid
        size = (height, width, channels, 1) if self.groups else (1, 1, 1, channels)
        return np.full(size, weight)

    def _each_half(self) -> Array:
        """Return weights that sum each half of the rows."""
        first = np.arange(self.channels) % 4 < 2
        weights: Array = np.stack([first, ~first]).reshape(2, 1, 1, self.channels)
        return weights

    def _added(self, steps: TosaSteps[T], sums: T, scale: tuple[int, int]) -> T:
        sums = steps.rescale(sums, *scale, INT32)
        if self.groups not in (0, self.channels):
            grouped = (self.laid[0], self.groups, self.channels // self.groups)
            sums = steps.reduce_sum(steps.reshape(sums, grouped), 2)
        return steps.reshape(sums, (1, 1, 1, self.number))

    def spread(self, steps: TosaSteps[T], values: T, dtype: int) -> T:
        """Return [1, 1, 1, number] of a dtype in a shape broadcasting to the layout."""
        batch, _, _, channels = self.laid
        if not self.groups:
            return steps.reshape(values, (*self.laid[:3], 1))
        if self.groups != channels:
            column = steps.reshape(values, (batch, self.groups, 1))
            nothing = steps.constant(np.zeros((1, 1, channels // self.groups)), INT32)
            wide = steps.add(steps.rescale(column, *_ONE, INT32), nothing)
            values = steps.rescale(wide, *_ONE, dtype)
        return steps.reshape(values, (batch, 1, 1, channels))

    @property
    def _is_moved(self) -> bool:
        return list(self.order) != sorted(self.order)


def parts_of(shape: Sequence[int], parts: Sequence[int], varies: Sequence[bool]) -> Parts | None:
    """Return the layout of the parts; None if they are neither rows nor groups.

    Args:
      shape: of the input.
      parts: number of equal parts along each dimension.
      varies: True for each dimension with different gains or offsets.
    """
    return _rows(tuple(shape), parts, varies) or _groups(tuple(shape), parts, varies)


def _rows(shape: tuple[int, ...], parts: Sequence[int], varies: Sequence[bool]) -> Parts | None:
    rank = len(shape)
    for first in range(rank):
        leads = all(parts[d] == shape[d] and not varies[d] for d in range(first))
        if leads and all(parts[d] == 1 for d in range(first, rank)):
            laid = (1, 1, math.prod(shape[:first]), math.prod(shape[first:]))
            return Parts(shape, tuple(range(rank)), laid, 0)
    return None


def _groups(shape: tuple[int, ...], parts: Sequence[int], varies: Sequence[bool]) -> Parts | None:
    dims = range(len(shape))
    grouped = [d for d in dims if varies[d] or 1 < parts[d] < shape[d]]
    if not grouped:  # any dimension with parts of one value will do
        grouped = [d for d in dims if parts[d] == shape[d] > 1][-1:]
    if len(grouped) != 1:
        return None
    (channel,) = grouped
    batch = [d for d in dims if d != channel and parts[d] == shape[d]]
    inner = [d for d in dims if d != channel and d not in batch]
    if any(parts[d] != 1 for d in inner):
        return None
    area = math.prod(shape[d] for d in inner)
    heights = [h for h in range(1, _LARGEST_HEIGHT + 1) if area % h == 0]
    if area > _LARGEST_AREA:
        return None
    laid = (math.prod(shape[d] for d in batch), max(heights), area // max(heights), shape[channel])
    return Parts(shape, (*batch, *inner, channel), laid, parts[channel])
