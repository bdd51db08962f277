# SPDX-License-Identifier: Apache-2.0
"""pl::log_softmax: log-softmax over one dimension by a table of exponentials and an integer
logarithm.
"""

from __future__ import annotations

import math

import torch

from aot.dialect.arithmetic import (
    bit_length,
    quantize_multiplier,
    quantize_wide_multiplier,
    requantize,
    requantize_wide,
    rounding_shift_right,
    saturate,
)
from aot.dialect.library import define
from aot.dialect.quantization import ACTIVATION_TYPES, INT16, Quantization
from aot.dialect.signature import Activation, Int32
from aot.dialect.transposes import along_dim
from kernels.softmax.op import (
    WIDE_BITS,
    exponential_table,
    wide_exponential_table,
    wide_exponentials,
)

_LOG2_TABLE = torch.tensor([round(65536 * math.log2(1 + i / 128)) for i in range(129)])
_DIFFERENCE_SHIFT = 20
_WIDE_SHIFT = 14  # of differences and logarithms of int16
_GUARD_BITS = 10


def log2_q16(x: torch.Tensor) -> torch.Tensor:
    """Return log2 of int64 values in [1, 2^32) as Q16.

    It is the leading bit's position plus a 128-segment linear interpolation.
    """
    n = torch.floor(torch.log2(x.to(torch.float64))).to(torch.int64)
    fraction = (x << (31 - n)) - (1 << 31)
    index = fraction >> 24
    f = (fraction >> 8) & 0xFFFF
    base = _LOG2_TABLE[index]
    slope = _LOG2_TABLE[index + 1] - base
    return (n << 16) + base + ((slope * f + (1 << 15)) >> 16)


def exponential_sums(
    difference: torch.Tensor, exp_table: torch.Tensor, dim: list[int], keepdim: bool, wide: bool
) -> torch.Tensor:
    """Return the sums of exp(-difference * scale) over dimensions, with the table's
    fraction bits.
    """
    if wide:
        return wide_exponentials(difference, exp_table).sum(dim, keepdim)
    return exp_table.to(torch.int64)[difference].sum(dim, keepdim)


def scaled_log(
    total: torch.Tensor, fraction_bits: int, multiplier: int, shift: int, wide: bool
) -> torch.Tensor:
    """Return the logarithm of sums of exponentials in the output's steps, with guard bits."""
    if wide:  # the 31 leading bits decide
        down = (bit_length(total) - 31).clamp(min=0)
        log_sum = log2_q16(total >> down) + ((down - fraction_bits) << 16)
        return requantize_wide(log_sum << _WIDE_SHIFT, multiplier, shift)
    return requantize(log2_q16(total) - (fraction_bits << 16), multiplier, shift)


def scaled_value(x: torch.Tensor, multiplier: int, shift: int, wide: bool) -> torch.Tensor:
    """Return a difference of inputs in the output's steps, with guard bits."""
    if wide:
        return requantize_wide(x << _WIDE_SHIFT, multiplier, shift)
    return requantize(x << _DIFFERENCE_SHIFT, multiplier, shift)


def without_guard_bits(x: torch.Tensor, output_zero_point: int, dtype: torch.dtype) -> torch.Tensor:
    """Return the result: of int8 ties are rounded away from zero, of int16 up."""
    kind = ACTIVATION_TYPES[dtype]
    if dtype is torch.int16:
        x = (x + (1 << (_GUARD_BITS - 1))) >> _GUARD_BITS
    else:
        x = rounding_shift_right(x, _GUARD_BITS)
    return saturate(x + output_zero_point, kind.quant_min, kind.quant_max, dtype)


def log_constants(
    source: Quantization, result: Quantization, length: int
) -> tuple[torch.Tensor, int, tuple[int, ...]]:
    """Return the constants of log_softmax and logsumexp of `length` values.

    Returns:
      exp_table, fraction_bits, and (input_multiplier, input_shift, log_multiplier,
        log_shift).
    """
    scale = result.scale / 2**_GUARD_BITS
    value, log = source.scale / scale, math.log(2.0) / scale / 2**16
    if source.type is INT16:
        split, shifts = quantize_wide_multiplier, (_WIDE_SHIFT, _WIDE_SHIFT)
        table, bits = wide_exponential_table(source.scale), WIDE_BITS
    else:
        split, shifts = quantize_multiplier, (_DIFFERENCE_SHIFT, 0)
        table, bits = exponential_table(source.scale, length)
    factors = (*split(value / 2 ** shifts[0]), *split(log / 2 ** shifts[1]))
    return table, bits, factors


@define(transposes=along_dim("input"))
def log_softmax(
    input: Activation,
    exp_table: Int32,
    dim: int,
    fraction_bits: int,
    input_multiplier: int,
    input_shift: int,
    log_multiplier: int,
    log_shift: int,
    output_zero_point: int,
) -> torch.Tensor:
    """Return (q - max) * input_scale / output_scale - ln(S) / output_scale.

    S is the sum of exponentials along dim. dim is not negative.

    int8: the two factors are requantize pairs that leave 10 fraction bits. input_* is for (q - max)
    << 20. log_* is for log2(S) in Q16 and holds ln 2. Only their difference is rounded to the
    output's step, ties away from zero. exp_table is int32 [256] with exp_table[0] =
    2^fraction_bits.

    int16: the factors are those of requantize_wide, for (q - max) << 14 and for log2(S) in Q30. 16
    bits of this logarithm are computed, from the 31 leading bits of S. Ties are rounded up.
    exp_table is int32 [512] from `wide_exponential_table` with its 30 fraction bits. At most 2^16
    values are allowed.
    """
    wide = input.dtype is torch.int16
    x = input.to(torch.int64)
    below = x.amax(dim=dim, keepdim=True) - x
    total = exponential_sums(below, exp_table, [dim], True, wide)
    out = scaled_value(-below, input_multiplier, input_shift, wide)
    out = out - scaled_log(total, fraction_bits, log_multiplier, log_shift, wide)
    return without_guard_bits(out, output_zero_point, input.dtype)
