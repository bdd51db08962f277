# SPDX-License-Identifier: Apache-2.0
"""pl::mean: sum or mean over dimensions, requantized."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import requantize, saturate
from aot.dialect.library import define, reduced_shape
from aot.dialect.quantization import ACTIVATION_TYPES, ACTIVATIONS
from aot.dialect.transposes import along_dims


def _infer(
    input: torch.Tensor, dim: Sequence[int], keepdim: bool, *_: int
) -> tuple[tuple[int, ...], torch.dtype]:
    return reduced_shape(input.shape, dim, keepdim), input.dtype


@define(
    "Tensor input, int[] dim, bool keepdim, int input_zero_point, int output_zero_point, int "
    "multiplier, int shift",
    infer=_infer,
    dtypes={"input": ACTIVATIONS},
    zero_points={"input_zero_point": "input", "output_zero_point": "output"},
    transposes=along_dims("input"),
)
def mean(
    input: torch.Tensor,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """saturate(requantize(sum (x - input_zero_point), multiplier, shift) + output_zero_point).
    Input and result int8 or int16; TFLite's MEAN.

    dim are not negative; multiplier and shift hold input_scale / (output_scale * count), as
    arithmetic.quantize_mean splits it. For a sum they leave the count out.
    """
    acc = (input.to(torch.int64) - input_zero_point).sum(dim=list(dim), keepdim=keepdim)
    kind = ACTIVATION_TYPES[input.dtype]
    out = requantize(acc, multiplier, shift) + output_zero_point
    return saturate(out, kind.quant_min, kind.quant_max, input.dtype)
