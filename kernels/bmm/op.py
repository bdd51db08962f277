# SPDX-License-Identifier: Apache-2.0
"""pl::bmm: the product of two computed matrices, batch by batch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import requantize_sums, saturate
from aot.dialect.library import Inferred, define
from aot.dialect.signature import Activation


def _ordered(x: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    return x.permute(*order) if order else x


def _infer(
    a: torch.Tensor,
    b: torch.Tensor,
    transpose_b: bool,
    a_order: Sequence[int],
    b_order: Sequence[int],
) -> Inferred:
    a, b = _ordered(a, a_order), _ordered(b, b_order)
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (*batch, a.shape[-2], b.shape[-2 if transpose_b else -1]), a.dtype


def _macs(a: torch.Tensor, a_order: Sequence[int], output: Sequence[int]) -> int:
    return math.prod(output) * _ordered(a, a_order).shape[-1]


@define(infer=_infer, macs=_macs)
def bmm(
    a: Activation,
    b: Activation,
    transpose_b: bool,
    a_order: Sequence[int],
    b_order: Sequence[int],
    a_zero_point: int,
    b_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """Return clamp(requantize(sum_k (a[m, k] - a_zero_point) * (b[k, n] - b_zero_point)) +
    output_zero_point).

    a int8 or int16 [..., M, K]; b [..., K, N], or [..., N, K] if transpose_b; result [..., M, N] of
    a's dtype. An order, if given, is the permutation from the given tensor to that shape. a's order
    keeps the last dimension in place. The leading dimensions broadcast. For int8 this is TFLite's
    BATCH_MATMUL. Sums of int16 values exceed int32: they use requantize_wide.
    """
    # float64 holds every sum exactly, and torch multiplies it fast.
    a, b = _ordered(a, a_order), _ordered(b, b_order)
    x = (a.to(torch.int64) - a_zero_point).to(torch.float64)
    y = (b.to(torch.int64) - b_zero_point).to(torch.float64)
    acc = (x @ (y.mT if transpose_b else y)).to(torch.int64)
    out = requantize_sums(acc, multiplier, shift, a.dtype) + output_zero_point
    return saturate(out, activation_min, activation_max, a.dtype)
