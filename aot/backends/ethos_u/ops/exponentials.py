# SPDX-License-Identifier: Apache-2.0
"""Exponentials of how far values are below the largest of their row, and the sums of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from aot.backends.ethos_u.block import INT16, INT32, Array
from aot.backends.ethos_u.ops.bits import number
from aot.backends.ethos_u.steps import T, TosaSteps, scale32

LARGEST_LENGTH = 65536
"""Largest row length: the row's sum fits 31 bits."""

TOP = 32767
"""Exponential of 0."""

INDEX_SCALE = 128.0
"""Scale of a difference as an index of the table, int16."""

_ONE = scale32(1.0)
_LARGEST_KERNEL = 256  # rows or columns of a pool


@dataclass(frozen=True)
class ExponentialRows:
    """Adjacent rows as [outer, inner].

    Attributes:
      outer, inner, length: numbers of rows, and number of values per row.
      in_one: True if they lie in one row of rows.
    """

    outer: int
    inner: int
    length: int
    in_one: bool = False

    @staticmethod
    def of(shape: Sequence[int], in_one: bool = False) -> ExponentialRows:
        """Return the rows of a shape, over the last dimension."""
        inner = shape[-2] if len(shape) > 1 else 1
        return ExponentialRows(math.prod(shape[:-1]) // inner, inner, shape[-1], in_one)

    @property
    def count(self) -> int:
        return self.outer * self.inner

    @property
    def laid(self) -> tuple[int, int, int]:
        return (1, 1, self.count) if self.in_one else (1, self.outer, self.inner)

    def largest(self, steps: TosaSteps[T], x: T) -> T:
        """Return the maximum of each row, int8 or int16.

        A pool is much faster than REDUCE_MAX, which processes adjacent values one by one. Its
        windows have limits.
        """
        size = windows(self.length)
        if size is None:
            largest = steps.reduce_max(x, 3)
        else:
            apart = steps.reshape(x, (1, self.outer, self.inner, self.length))
            columns = steps.transpose(apart, (0, 1, 3, 2))
            images = (1, self.outer, self.length) if size[0] == 1 else (self.outer, *size)
            flat = steps.reshape(columns, (*images, self.inner))
            largest = steps.max_pool2d(flat, size, (1, 1), (0, 0, 0, 0))
        return steps.reshape(largest, (*self.laid, 1))

    def exponentials(self, steps: TosaSteps[T], index: T, entries: Array) -> tuple[T, T]:
        """Return TOP * exp(d), int16, and the sum of each row, int32 [1, 1, 1, rows].

        The index is 128 * d, with d the difference to the row's maximum.
        """
        e = steps.rescale(steps.table(index, entries), *scale32(2.0**-7), INT16)
        sums = steps.conv2d(e, np.ones((1, 1, 1, self.length)), [0], 0)
        return e, steps.reshape(steps.rescale(sums, 1 << 14, 14, INT32), (1, 1, 1, self.count))


def entries_of(table: torch.Tensor, below: int | None = None) -> Array:
    """Return table entries at 128 * d for d = x - max from -255 to 0, and one entry below.

    The entries are the CPU's table in 15 bits. The default of the entry below is that of -255.
    """
    entries = table.to(torch.float64) / float(table[0]) * TOP
    given = np.round(entries.flip(0).numpy())  # from -255 to 0
    return np.concatenate([[given[0] if below is None else below], given, np.full(256, TOP)])


def index_of(steps: TosaSteps[T], q: T, largest: T) -> T:
    """Return 128 * d of int8 or int16 values and their rows' maximum."""
    d = steps.sub(steps.rescale(q, *_ONE, INT32), largest)
    return steps.rescale(d, *scale32(INDEX_SCALE), INT16)


def at_least(steps: TosaSteps[T], x: T, least: int) -> T:
    return steps.maximum(x, number(steps, least))


def windows(length: int) -> Sequence[int] | None:
    """Return rows and columns of a pool window over this many values; None if there is none."""
    for height in range(1, _LARGEST_KERNEL + 1):
        if length % height == 0 and length // height <= _LARGEST_KERNEL:
            return (height, length // height)
    return None
