# SPDX-License-Identifier: Apache-2.0
"""pl::add: addition with broadcasting; subtraction has a negative b_multiplier."""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import requantize, saturate
from aot.dialect.library import broadcast, define
from aot.dialect.signature import Activation
from aot.dialect.transposes import elementwise


@define(infer=broadcast, transposes=elementwise("a", "b"))
def add(
    a: Activation,
    b: Activation,
    a_zero_point: int,
    a_multiplier: int,
    a_shift: int,
    b_zero_point: int,
    b_multiplier: int,
    b_shift: int,
    left_shift: int,
    output_zero_point: int,
    output_multiplier: int,
    output_shift: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """Compute TFLite's ADD: both operands are brought to a common scale with left_shift guard bits,
    added, and requantized.

    a, b int8 or int16 of broadcastable shapes; result of their dtype and the broadcast shape.
    """
    a_scaled = requantize((a.to(torch.int64) - a_zero_point) << left_shift, a_multiplier, a_shift)
    b_scaled = requantize((b.to(torch.int64) - b_zero_point) << left_shift, b_multiplier, b_shift)
    out = requantize(a_scaled + b_scaled, output_multiplier, output_shift) + output_zero_point
    return saturate(out, activation_min, activation_max, a.dtype)
