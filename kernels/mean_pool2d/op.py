# SPDX-License-Identifier: Apache-2.0
"""pl::mean_pool2d: NHWC, means of windows with a scale of their own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import torch

from aot.dialect.arithmetic import divided, requantize, saturate
from aot.dialect.library import Inferred, define
from aot.dialect.quantization import ACTIVATION_TYPES
from aot.dialect.signature import Activation, Pair, Sides

GUARD_BITS = {torch.int8: 6, torch.int16: 0}
"""Guard bits of sums.

A factor near 1/4, as for four elements, first rounds to halves of a step. Without guard bits, every
fourth int8 mean would be off by one step.
"""


class Window(NamedTuple):
    """Window of one axis: the elements [begin, end) inside the input, and the count."""

    begin: int
    end: int
    counted: int


def windows(
    size: int,
    count: int,
    kernel: int,
    stride: int,
    parts: int,
    before: int,
    after: int,
    include_pad: bool,
) -> list[Window]:
    """Return the windows of an axis of `size` elements with padding before and after it."""
    found = []
    for index in range(count):
        begin = index * stride // parts - before
        end = min(-(-(index * stride + kernel) // parts) - before, size + after)
        inside = max(begin, 0), min(end, size)
        found.append(Window(*inside, end - begin if include_pad else inside[1] - inside[0]))
    return found


def pool_windows(
    input: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    parts: Sequence[int],
    padding: Sequence[int],
    output_size: Sequence[int],
    count_include_pad: bool,
) -> tuple[list[Window], list[Window]]:
    """Return the windows of the rows and of the columns."""
    rows, columns = (
        windows(
            input.shape[1 + d],
            output_size[d],
            kernel[d],
            stride[d],
            parts[d],
            padding[2 * d],
            padding[2 * d + 1],
            count_include_pad,
        )
        for d in (0, 1)
    )
    return rows, columns


def counts(rows: Sequence[Window], columns: Sequence[Window]) -> set[int]:
    """Return all divisors of the sums of windows."""
    return {y.counted * x.counted for y, x in product(set(rows), set(columns))}


def _infer(input: torch.Tensor, output_size: Sequence[int]) -> Inferred:
    n, _h, _w, c = input.shape
    return (n, *output_size, c), input.dtype


@define(infer=_infer, spatial=True)
def mean_pool2d(
    input: Activation,
    kernel: Pair,
    stride: Pair,
    parts: Pair,
    padding: Sides,
    output_size: Pair,
    by_count: bool,
    count_include_pad: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """Return saturate(requantize(acc, *divided(multiplier, shift, count)) + output_zero_point).

    acc is the sum over taps inside of x - input_zero_point, times 2^GUARD_BITS.

    Window i of an axis is [floor(i * stride / parts), ceil((i * stride + kernel) / parts)), minus
    the padding before it. With parts of 1 the windows start at every stride. Adaptive pooling uses
    the input's size as kernel and stride; parts is the number of windows.

    If windows are divided by_count, count is the window's taps inside the input, plus the padding
    if count_include_pad. Taps past the padding (ceil_mode) never count. multiplier and shift hold
    input_scale / output_scale / 2^GUARD_BITS. Otherwise count is 1, and they hold that divided by
    the common divisor of all windows.

    input int8 or int16 [N, H, W, C]; padding (top, bottom, left, right); result of its dtype [N,
    *output_size, C].
    """
    kind = ACTIVATION_TYPES[input.dtype]
    out = torch.empty((input.shape[0], *output_size, input.shape[3]), dtype=kind.dtype)
    layout = kernel, stride, parts, padding, output_size, count_include_pad
    rows, columns = pool_windows(input, *layout)
    centered = (input.to(torch.int64) - input_zero_point) << GUARD_BITS[input.dtype]
    for (y, row), (x, column) in product(enumerate(rows), enumerate(columns)):
        acc = centered[:, row.begin : row.end, column.begin : column.end].sum(dim=(1, 2))
        count = row.counted * column.counted if by_count else 1
        result = requantize(acc, *divided(multiplier, shift, count)) + output_zero_point
        out[:, y, x] = saturate(result, kind.quant_min, kind.quant_max, kind.dtype)
    return out
