# SPDX-License-Identifier: Apache-2.0
"""pl::cumsum: running sums along a dimension."""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import requantize_sums, saturate
from aot.dialect.library import define
from aot.dialect.quantization import ACTIVATION_TYPES
from aot.dialect.signature import Activation
from aot.dialect.transposes import along_dim


def guard_bits(count: int, dtype: torch.dtype) -> int:
    """Return the guard bits of a sum of `count` values.

    For int8: as many as fit into int32 with the sum. For int16: none, because one rounding is
    enough without them.
    """
    return 0 if dtype is torch.int16 else 22 - (count - 1).bit_length()


@define(transposes=along_dim("input"))
def cumsum(
    input: Activation,
    dim: int,
    left_shift: int,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """Return saturate(requantize_sums(s << left_shift, multiplier, shift) + output_zero_point).

    s is the exact running sum of input - input_zero_point along dim, with the current value. dim is
    not negative. Input and result are int8 or int16. left_shift is guard bits, `guard_bits` of the
    size of dim: the result is rounded once.
    """
    kind = ACTIVATION_TYPES[input.dtype]
    sums = (input.to(torch.int64) - input_zero_point).cumsum(dim)
    out = requantize_sums(sums << left_shift, multiplier, shift, input.dtype) + output_zero_point
    return saturate(out, kind.quant_min, kind.quant_max, kind.dtype)
