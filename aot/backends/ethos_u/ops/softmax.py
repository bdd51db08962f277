# SPDX-License-Identifier: Apache-2.0
"""pl::ethos_u_softmax: exponentials by a table of 16 bits, and the reciprocal of their sum."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from aot.backends.ethos_u.block import INT8, INT16, INT32, Array
from aot.backends.ethos_u.steps import Integers, Steps, T, scale32
from aot.dialect.library import define

LARGEST_LENGTH = 65536
"""Of a row: its sum fits 31 bits."""

_ONE = scale32(1.0)
_LARGEST_KERNEL = 256  # rows or columns of a pool
_ENTRIES = np.arange(-256, 257)
_TOP = 32767
_AWAY = 512.0
"""More than lies between two int8 values, and what 16 bits of 128 * d hold."""
_RECIPROCALS = np.round(np.clip(2.0**21 / np.maximum(_ENTRIES, 64), 0, _TOP))
"""2^28 / t at t = 128 * entry, of t from 2^13 on."""


def exponentials(table: torch.Tensor, below: int | None = None) -> Array:
    """Entries at 128 * d for d = x - max from -255 to 0: the CPU's table in 15 bits; and what is
    below, if not that of -255.
    """
    entries = table.to(torch.float64) / float(table[0]) * _TOP
    given = np.round(entries.flip(0).numpy())  # of -255 to 0
    return np.concatenate([[given[0] if below is None else below], given, np.full(256, _TOP)])


def softmax_steps(
    steps: Steps[T],
    x: T,
    table: torch.Tensor,
    dim: int,
    scale: int,
    in_rows: bool = False,
    mask: T | None = None,
) -> T:
    """The arguments of pl::softmax, `scale` for its steps.

    With d = x - max, e = round(32767 * exp(d)) and S the sum of e: r = 2^29 / S, rounded to an
    integer of 14 significant bits at most; round(e * r * scale / 2^29) - 128. With a scale of 256
    that is less than 1 away from the exact value.

    Args:
      in_rows: whether a copy of x in one row of rows is cheaper than two reads of x.
      mask: of x's rank, 1 where a value is kept; the others are moved so far down that their e is
        0. dim is the last one.
    """
    order = [*(d for d in range(len(x.shape)) if d != dim), dim]
    if mask is not None:
        x = _moved_down(steps, x, mask)
    moved = steps.transpose(x, order) if dim != len(x.shape) - 1 else x
    shape = moved.shape
    length, count = shape[-1], math.prod(shape[:-1])
    inner = shape[-2] if len(shape) > 1 else 1
    rows = (1, count) if in_rows else (count // inner, inner)
    q = steps.reshape(moved, (1, *rows, length))
    largest = _largest(steps, q, (count // inner, inner), length)
    largest = steps.rescale(steps.reshape(largest, (1, *rows, 1)), *_ONE, INT32)
    if mask is not None:  # of rows without any
        largest = steps.maximum(largest, steps.constant([[[[-128]]]], INT32))

    d = steps.sub(steps.rescale(q, *_ONE, INT32), largest)
    index = steps.rescale(d, *scale32(128.0), INT16)
    looked_up = steps.table(index, exponentials(table, None if mask is None else 0))
    e = steps.rescale(looked_up, *scale32(2.0**-7), INT16)

    sums = steps.conv2d(e, np.ones((1, 1, 1, length)), [0], 0)
    total = steps.reshape(steps.rescale(sums, 1 << 14, 14, INT32), (1, 1, 1, count))
    if mask is not None:
        total = steps.maximum(total, steps.constant([[[[_TOP]]]], INT32))
    one = steps.constant([[[[1]]]], INT32)
    zeros = steps.sub(steps.clz(total), one)
    # A sum with 0 is one operation with the RESCALE behind it, where that alone would be two.
    nothing = steps.constant([[[[0]]]], INT32)
    normalized = steps.add(steps.shift_left(total, zeros), nothing)  # in [2^30, 2^31)
    t = steps.rescale(normalized, *scale32(2.0**-16), INT16)
    looked_up = steps.table(t, _RECIPROCALS)
    reciprocal = steps.rescale(looked_up, *scale32(2.0**-7), INT32)  # 2^28 / t
    wide = steps.add(steps.shift_left(reciprocal, zeros), nothing)
    r = steps.reshape(steps.rescale(wide, *scale32(2.0**-15), INT16), (1, *rows, 1))

    product = steps.mul(steps.rescale(e, *_ONE, INT32), steps.rescale(r, *_ONE, INT32))
    y = steps.rescale(product, *scale32(scale * 2.0**-29), INT8, output_zero_point=-128)
    y = steps.reshape(y, shape)
    return steps.transpose(y, np.argsort(order).tolist()) if moved is not x else y


def _moved_down(steps: Steps[T], x: T, mask: T) -> T:
    """x, less _AWAY where it is not kept, int16."""
    away = steps.rescale(mask, *scale32(_AWAY), INT16, input_zero_point=1)
    wide = steps.rescale(x, *_ONE, INT16)  # an addition of one type is one operation
    sums = steps.add(*(steps.rescale(v, *_ONE, INT32) for v in (wide, away)))
    return steps.rescale(sums, *_ONE, INT16)


def _largest(steps: Steps[T], x: T, rows: tuple[int, int], length: int) -> T:
    """Of each row. A pool is much faster than REDUCE_MAX, which goes over what lies together one by
    one, but its windows have limits.
    """
    size = windows(length)
    if size is None:
        return steps.reduce_max(x, 3)
    outer, inner = rows
    columns = steps.transpose(steps.reshape(x, (1, outer, inner, length)), (0, 1, 3, 2))
    if size[0] == 1:
        flat = steps.reshape(columns, (1, outer, length, inner))
    else:
        flat = steps.reshape(columns, (outer, *size, inner))
    return steps.max_pool2d(flat, size, (1, 1), (0, 0, 0, 0))


def windows(length: int) -> Sequence[int] | None:
    """Rows and columns of a pool's window over so many values; None: there is none."""
    for height in range(1, _LARGEST_KERNEL + 1):
        if length % height == 0 and length // height <= _LARGEST_KERNEL:
            return (height, length // height)
    return None


def _infer(input: torch.Tensor, *_: object) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(input.shape), torch.int8


@define(
    "Tensor input, Tensor exp_table, int dim, int steps",
    infer=_infer,
    dtypes={"input": (torch.int8,), "exp_table": (torch.int32,)},
)
def ethos_u_softmax(
    input: torch.Tensor, exp_table: torch.Tensor, dim: int, steps: int
) -> torch.Tensor:
    """Softmax as `softmax_steps` has it; arguments and result as of pl::softmax."""
    return softmax_steps(Integers(), input, exp_table, dim, steps).contiguous()


@define(
    "Tensor input, Tensor mask, Tensor exp_table, int steps",
    infer=_infer,
    dtypes={"input": (torch.int8,), "mask": (torch.bool,), "exp_table": (torch.int32,)},
)
def ethos_u_masked_softmax(
    input: torch.Tensor, mask: torch.Tensor, exp_table: torch.Tensor, steps: int
) -> torch.Tensor:
    """Softmax of what a mask keeps, as `softmax_steps` has it; arguments and result as of
    pl::masked_softmax.
    """
    rank = input.dim()
    kept = mask.reshape((1,) * (rank - mask.dim()) + tuple(mask.shape)).to(torch.int8)
    y = softmax_steps(Integers(), input, exp_table, rank - 1, steps, mask=kept)
    return y.contiguous()
