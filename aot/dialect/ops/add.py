# SPDX-License-Identifier: Apache-2.0
"""pl::add: addition with broadcasting; subtraction has a negative b_multiplier."""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import requantize, saturate
from aot.dialect.library import define
from aot.dialect.quantization import ACTIVATIONS
from aot.dialect.transposes import elementwise


def _infer(a: torch.Tensor, b: torch.Tensor, *_: int) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(torch.broadcast_shapes(a.shape, b.shape)), a.dtype


@define(
    "Tensor a, Tensor b, int a_zero_point, int a_multiplier, int a_shift, int b_zero_point, int "
    "b_multiplier, "
    "int b_shift, int left_shift, int output_zero_point, int output_multiplier, int output_shift, "
    "int activation_min, int activation_max",
    infer=_infer,
    dtypes={"a": ACTIVATIONS, "b": ACTIVATIONS},
    zero_points={"a_zero_point": "a", "b_zero_point": "b", "output_zero_point": "output"},
    transposes=elementwise("a", "b"),
)
def add(
    a: torch.Tensor,
    b: torch.Tensor,
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
    """TFLite's ADD: both operands are brought to a common scale with left_shift guard bits,
    added, and requantized.

    a, b int8 or int16 of broadcastable shapes; result of their dtype and the broadcast shape.
    """
    a_scaled = requantize((a.to(torch.int64) - a_zero_point) << left_shift, a_multiplier, a_shift)
    b_scaled = requantize((b.to(torch.int64) - b_zero_point) << left_shift, b_multiplier, b_shift)
    out = requantize(a_scaled + b_scaled, output_multiplier, output_shift) + output_zero_point
    return saturate(out, activation_min, activation_max, a.dtype)
