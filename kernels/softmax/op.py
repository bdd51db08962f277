# SPDX-License-Identifier: Apache-2.0
"""pl::softmax: softmax over one dimension by a table of exponentials."""

from __future__ import annotations

import math

import torch

from aot.dialect.arithmetic import bit_length
from aot.dialect.library import define
from aot.dialect.quantization import Quantization
from aot.dialect.signature import Activation, Int32
from aot.dialect.transposes import along_dim

OUTPUT = Quantization(1.0 / 256.0, -128)
"""TFLite's quantization of the result."""

WIDE_STEPS = 2**15
"""1 / scale of an int16 result."""

WIDE_BITS = 30
"""Fraction bits of the exponentials of int16 values."""

_INDEX_BITS = 8


def exponential_table(scale: float, length: int, steps: int = 256) -> tuple[torch.Tensor, int]:
    """Return the table for rows of `length` values of this scale, and its fraction bits.

    Entry d is exp(-d * scale) as a fixed-point number. The fraction bits are limited by uint32: the
    sum over a row must fit. The rounded division of an entry times `steps` by this sum must fit
    too.

    Returns:
      (int32 [256], fraction bits)
    """
    bits = 31 - math.ceil(math.log2(max(length, steps)))
    entries = [round(math.exp(-d * scale) * 2**bits) for d in range(256)]
    return torch.tensor(entries, dtype=torch.int32), bits


def wide_exponential_table(scale: float) -> torch.Tensor:
    """Return the tables for int16 values of this scale, with 30 fraction bits.

    Entry i of the first is exp(-256 * i * scale). Entry j of the second is exp(-j * scale).

    Returns:
      int32 [512], the first table and the second.
    """
    steps = (1 << _INDEX_BITS, 1)
    entries = [round(math.exp(-d * s * scale) * 2**WIDE_BITS) for s in steps for d in range(256)]
    return torch.tensor(entries, dtype=torch.int32)


def wide_exponentials(difference: torch.Tensor, exp_table: torch.Tensor) -> torch.Tensor:
    """Return exp(-difference * scale) with 30 fraction bits, for differences in [0,
    2^16), int64.
    """
    high, low = exp_table.to(torch.int64).chunk(2)
    product = high[difference >> _INDEX_BITS] * low[difference & ((1 << _INDEX_BITS) - 1)]
    return (product + (1 << (WIDE_BITS - 1))) >> WIDE_BITS


def wide_shares(e: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
    """Return e / total in steps of 2^-15, rounded to nearest, at most 32767, int16; 0 if total is
    0.

    e is int64 with 30 fraction bits. total is their sum over at most 2^16, int64. The reciprocal of
    a sum has 31 bits. The error exceeds the rounding error by less than 2^-13 of a step.
    """
    down = (bit_length(total) - 1 - WIDE_BITS).clamp(min=0)
    reciprocal = (1 << 61) // (total >> down).clamp(min=1 << WIDE_BITS)
    out = (e * reciprocal + (1 << (45 + down))) >> (46 + down)
    return out.clamp(max=WIDE_STEPS - 1).to(torch.int16)


def exponentials(
    input: torch.Tensor, exp_table: torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return e = exp_table[max - q] along dim, and its sum (kept dimension), int64."""
    x = input.to(torch.int64)
    e = exp_table.to(torch.int64)[x.amax(dim=dim, keepdim=True) - x]
    return e, e.sum(dim=dim, keepdim=True)


@define(transposes=along_dim("input"))
def softmax(input: Activation, exp_table: Int32, dim: int, steps: int) -> torch.Tensor:
    """Return min(127, floor((steps * e + S / 2) / S) - 128), with e = exp_table[max - q].

    S is the sum of e along dim. dim is not negative.

    int8: exp_table is int32 [256] from `exponential_table`. The result is int8 of scale 1 / steps
    and zero_point -128; 256 steps are the quantization OUTPUT. The table is exact to half a unit of
    2^-bits. With 256 steps the result is the correctly rounded softmax of the dequantized row,
    except for ties within 2^-14 of an LSB.

    int16: exp_table is int32 [512] from `wide_exponential_table`, and steps is WIDE_STEPS. The
    result is int16 of scale 1 / steps: `wide_shares` of `wide_exponentials`.
    """
    if input.dtype is torch.int16:
        x = input.to(torch.int64)
        e = wide_exponentials(x.amax(dim=dim, keepdim=True) - x, exp_table)
        return wide_shares(e, e.sum(dim=dim, keepdim=True))
    e, total = exponentials(input, exp_table, dim)
    out = (e * steps + total // 2) // total - 128
    return out.clamp(max=127).to(torch.int8)
