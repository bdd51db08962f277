# SPDX-License-Identifier: Apache-2.0
"""pl::prelu: values, the negative ones times a slope, with broadcasting."""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import requantize_sums, saturate
from aot.dialect.library import Inferred, define
from aot.dialect.quantization import ACTIVATION_TYPES
from aot.dialect.signature import Activation
from aot.dialect.transposes import elementwise


def _infer(input: torch.Tensor, slope: torch.Tensor) -> Inferred:
    return tuple(torch.broadcast_shapes(input.shape, slope.shape)), input.dtype


@define(infer=_infer, transposes=elementwise("input", "slope"))
def prelu(
    input: Activation,
    slope: Activation,
    input_zero_point: int,
    one: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """saturate(requantize(x * (one if x > 0 else slope), multiplier, shift) + output_zero_point),
    with x = input - input_zero_point. input, slope and result int8 or int16;
    products of int16 values leave int32: requantize_wide.

    The integer `one` stands for a slope of 1: slopes have the scale 1 / one. multiplier and shift
    hold input_scale / (one * output_scale).
    """
    x = input.to(torch.int64) - input_zero_point
    product = x * torch.where(x > 0, one, slope.to(torch.int64))
    out = requantize_sums(product, multiplier, shift, input.dtype) + output_zero_point
    kind = ACTIVATION_TYPES[input.dtype]
    return saturate(out, kind.quant_min, kind.quant_max, kind.dtype)
