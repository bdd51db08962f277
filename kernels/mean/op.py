# SPDX-License-Identifier: Apache-2.0
"""pl::mean: sum or mean over dimensions, requantized."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import requantize, saturate
from aot.dialect.library import define, reduced
from aot.dialect.quantization import ACTIVATION_TYPES
from aot.dialect.signature import Activation
from aot.dialect.transposes import along_dims


@define(infer=reduced, transposes=along_dims("input"))
def mean(
    input: Activation,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """Return saturate(requantize(sum (x - input_zero_point), multiplier, shift) +
    output_zero_point).

    Input and result are int8 or int16. This is TFLite's MEAN. dim are not negative. multiplier and
    shift hold input_scale / (output_scale * count), split by arithmetic.quantize_mean. A sum leaves
    out the count.
    """
    acc = (input.to(torch.int64) - input_zero_point).sum(dim=list(dim), keepdim=keepdim)
    kind = ACTIVATION_TYPES[input.dtype]
    out = requantize(acc, multiplier, shift) + output_zero_point
    return saturate(out, kind.quant_min, kind.quant_max, input.dtype)
