# SPDX-License-Identifier: Apache-2.0
"""pl::logsumexp: the logarithm of the sum of exponentials over dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.library import define, reduced
from aot.dialect.signature import Activation, Int32
from aot.dialect.transposes import along_dims
from kernels.log_softmax.op import (
    exponential_sums,
    scaled_log,
    scaled_value,
    without_guard_bits,
)


@define(infer=reduced, transposes=along_dims("input"))
def logsumexp(
    input: Activation,
    exp_table: Int32,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    fraction_bits: int,
    input_multiplier: int,
    input_shift: int,
    log_multiplier: int,
    log_shift: int,
    output_zero_point: int,
) -> torch.Tensor:
    """Return (max - input_zero_point) * input_scale / output_scale + ln(S) / output_scale.

    S is the sum of exponentials of max - input over dim. dim are not negative. The factors, guard
    bits, tables and rounding are those of pl::log_softmax, for int8 and for int16. The sum of both
    terms is rounded once to the output's step.
    """
    wide = input.dtype is torch.int16
    x = input.to(torch.int64)
    largest = x.amax(list(dim), keepdim=True)
    total = exponential_sums(largest - x, exp_table, list(dim), keepdim, wide)
    largest = largest.reshape(total.shape) - input_zero_point
    out = scaled_value(largest, input_multiplier, input_shift, wide)
    out = out + scaled_log(total, fraction_bits, log_multiplier, log_shift, wide)
    return without_guard_bits(out, output_zero_point, input.dtype)
