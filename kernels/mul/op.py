# SPDX-License-Identifier: Apache-2.0
"""pl::mul: multiplication with broadcasting."""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import requantize, saturate
from aot.dialect.library import broadcast, define
from aot.dialect.signature import Activation
from aot.dialect.transposes import elementwise


@define(infer=broadcast, transposes=elementwise("a", "b"))
def mul(
    a: Activation,
    b: Activation,
    a_zero_point: int,
    b_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """Return clamp(requantize((a - a_zero_point) * (b - b_zero_point), multiplier, shift) +
    output_zero_point).

    a, b and the result are int8 or int16. This is TFLite's MUL.
    """
    product = (a.to(torch.int64) - a_zero_point) * (b.to(torch.int64) - b_zero_point)
    out = requantize(product, multiplier, shift) + output_zero_point
    return saturate(out, activation_min, activation_max, a.dtype)
