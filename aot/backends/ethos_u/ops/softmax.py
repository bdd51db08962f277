# SPDX-License-Identifier: Apache-2.0
"""pl::ethos_u_softmax: exponentials by a 16-bit table, and the reciprocal of their sum."""

from __future__ import annotations

import numpy as np
import torch

from aot.backends.ethos_u.block import INT8, INT16, INT32
from aot.backends.ethos_u.ops.bits import leading_bits, shifted_up, zeros_of
from aot.backends.ethos_u.ops.exponentials import (
    TOP,
    ExponentialRows,
    at_least,
    entries_of,
    index_of,
)
from aot.backends.ethos_u.steps import IntegerSteps, T, TosaSteps, scale32
from aot.dialect.library import define
from aot.dialect.signature import Int8, Int32, Mask

_ONE = scale32(1.0)
_ENTRIES = np.arange(-256, 257)
_AWAY = 512.0
"""More than the distance of two int8 values, within 16 bits of 128 * d."""
_RECIPROCALS = np.round(np.clip(2.0**21 / np.maximum(_ENTRIES, 64), 0, TOP))
"""2^28 / t at t = 128 * entry, of t from 2^13 on."""


def softmax_steps(
    steps: TosaSteps[T],
    x: T,
    table: torch.Tensor,
    dim: int,
    scale: int,
    in_rows: bool = False,
    mask: T | None = None,
) -> T:
    """Return the output from the arguments of pl::softmax; `scale` gives its steps.

    Let d = x - max, e = round(32767 * exp(d)) and S the sum of e:

    - r = 2^29 / S, rounded to an integer of at most 14 significant bits;
    - the output is round(e * r * scale / 2^29) - 128.

    The output is less than 1 away from the exact value with a scale of 256.

    Args:
      in_rows: True if a copy of x in one row of rows is cheaper than two reads of x.
      mask: with x's rank, 1 where a value is kept. Other values are lowered until their e
        is 0. dim is the last one.
    """
    order = [*(d for d in range(len(x.shape)) if d != dim), dim]
    if mask is not None:
        x = _moved_down(steps, x, mask)
    moved = steps.transpose(x, order) if dim != len(x.shape) - 1 else x
    rows = ExponentialRows.of(moved.shape, in_rows)
    q = steps.reshape(moved, (*rows.laid, rows.length))
    largest = steps.rescale(rows.largest(steps, q), *_ONE, INT32)
    if mask is not None:  # for rows without a kept value
        largest = at_least(steps, largest, -128)
    index = index_of(steps, q, largest)
    e, total = rows.exponentials(steps, index, entries_of(table, None if mask is None else 0))
    if mask is not None:
        total = at_least(steps, total, TOP)
    zeros = zeros_of(steps, total)
    reciprocal = steps.entries(leading_bits(steps, total, zeros), _RECIPROCALS)  # 2^28 / t
    wide = shifted_up(steps, reciprocal, zeros)
    r = steps.reshape(steps.rescale(wide, *scale32(2.0**-15), INT16), (*rows.laid, 1))

    product = steps.mul(steps.rescale(e, *_ONE, INT32), steps.rescale(r, *_ONE, INT32))
    y = steps.rescale(product, *scale32(scale * 2.0**-29), INT8, output_zero_point=-128)
    y = steps.reshape(y, moved.shape)
    return steps.transpose(y, np.argsort(order).tolist()) if moved is not x else y


def _moved_down(steps: TosaSteps[T], x: T, mask: T) -> T:
    """Return x, minus _AWAY where it is not kept, int16."""
    away = steps.rescale(mask, *scale32(_AWAY), INT16, input_zero_point=1)
    wide = steps.rescale(x, *_ONE, INT16)  # an addition of one type is one operation
    sums = steps.add(*(steps.rescale(v, *_ONE, INT32) for v in (wide, away)))
    return steps.rescale(sums, *_ONE, INT16)


@define()
def ethos_u_softmax(input: Int8, exp_table: Int32, dim: int, steps: int) -> torch.Tensor:
    """Compute `softmax_steps` with arguments and result of pl::softmax."""
    return softmax_steps(IntegerSteps(), input, exp_table, dim, steps).contiguous()


@define()
def ethos_u_masked_softmax(input: Int8, mask: Mask, exp_table: Int32, steps: int) -> torch.Tensor:
    """Compute `softmax_steps` over the kept values of a mask.

    Arguments and result are those of pl::masked_softmax.
    """
    rank = input.dim()
    kept = mask.reshape((1,) * (rank - mask.dim()) + tuple(mask.shape)).to(torch.int8)
    y = softmax_steps(IntegerSteps(), input, exp_table, rank - 1, steps, mask=kept)
    return y.contiguous()
