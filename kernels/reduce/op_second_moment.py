# SPDX-License-Identifier: Apache-2.0
"""pl::second_moment: variance, standard deviation or Euclidean norm over dimensions, exact except
for one rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import requantize_sums, saturate
from aot.dialect.library import define, reduced
from aot.dialect.quantization import ACTIVATION_TYPES
from aot.dialect.signature import Activation
from aot.dialect.transposes import along_dims

MAX_INT16_COUNT = 2**15 - 1
"""Largest number of values per result."""


def fraction_bits(count: int, centered: bool, root: bool, dtype: torch.dtype) -> int:
    """Return the left shift of the sum in `second_moment`, in bits.

    It is even with a root, and as large as the root's 31 bits allow. Without a root it is as large
    as the requantization's range allows, and may be negative.
    """
    log2 = math.ceil(math.log2(count))
    if dtype is torch.int16:  # a square, and a variance, is at most 2^30
        bits, fit = 30 + (2 * log2 if centered else log2), 46
    else:  # the square of a difference is below 2^16, a variance of int8 values below 2^14
        bits, fit = 14 + 2 * log2 if centered else 16 + log2, 31
    return (62 - bits) // 2 * 2 if root else fit - bits


@define(infer=reduced, transposes=along_dims("input"))
def second_moment(
    input: Activation,
    dim: Sequence[int],
    keepdim: bool,
    centered: bool,
    root: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """Return saturate(requantize_sums(v, multiplier, shift) + output_zero_point).

    There are n values x = input - input_zero_point over dim, and b = fraction_bits(n, centered,
    root, input's dtype).

    - v = s * 2^b, with s = n * sum x^2 - (sum x)^2 if centered, else sum x^2. If b is
      negative, it is rounded to nearest, ties up.
    - With root, v = floor(sqrt(s * 2^b)).

    s is exact. The error of v is below one unit of 2^31, or of 2^46 for int16 without root. Input
    and result are int8 or int16; int16 allows at most MAX_INT16_COUNT values. dim are not negative.
    multiplier and shift hold input_scale^2 / (output_scale * 2^b), or input_scale / (output_scale *
    2^(b / 2)), and the divisor of the sum, if any.
    """
    x = input.to(torch.int64) - input_zero_point
    dims = list(dim)
    moment = (x * x).sum(dims, keepdim)
    count = input.numel() // moment.numel()
    if centered:
        moment = count * moment - x.sum(dims, keepdim) ** 2
    bits = fraction_bits(count, centered, root, input.dtype)
    half = 1 << (-bits - 1) if bits < 0 else 0
    value = ((moment << max(bits, 0)) + half) >> max(-bits, 0)
    if root:
        roots = [math.isqrt(v) for v in value.flatten().tolist()]
        value = torch.tensor(roots, dtype=torch.int64).reshape(value.shape)
    kind = ACTIVATION_TYPES[input.dtype]
    out = requantize_sums(value, multiplier, shift, input.dtype) + output_zero_point
    return saturate(out, kind.quant_min, kind.quant_max, kind.dtype)
