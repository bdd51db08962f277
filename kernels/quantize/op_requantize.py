# SPDX-License-Identifier: Apache-2.0
"""pl::requantize: the same real values with another quantization; one side is int16."""

from __future__ import annotations

import torch

from aot.dialect import arithmetic
from aot.dialect.library import Inferred, define
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.dialect.signature import Activation
from aot.dialect.transposes import elementwise


def _infer(input: torch.Tensor, bits: int) -> Inferred:
    return tuple(input.shape), torch.int16 if bits == 16 else torch.int8


def requantize_arguments(before: Quantization, after: Quantization) -> tuple[int, ...]:
    """Return the arguments of pl::requantize after the input."""
    bits = 8 * after.type.dtype.itemsize
    factor = arithmetic.quantize_multiplier(before.scale / after.scale)
    return bits, before.zero_point, after.zero_point, *factor


@define(infer=_infer, transposes=elementwise("input"))
def requantize(
    input: Activation,
    bits: int,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """Return saturate(requantize(x - input_zero_point, multiplier, shift) + output_zero_point).

    bits, 8 or 16, selects int8 or int16.
    """
    kind = INT16 if bits == 16 else INT8
    x = input.to(torch.int64) - input_zero_point
    out = arithmetic.requantize(x, multiplier, shift) + output_zero_point
    return arithmetic.saturate(out, kind.quant_min, kind.quant_max, kind.dtype)
