# SPDX-License-Identifier: Apache-2.0
"""pl::mul: multiplication with broadcasting."""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import requantize, saturate
from aot.dialect.library import define
from aot.dialect.quantization import ACTIVATIONS
from aot.dialect.transposes import elementwise


def _infer(a: torch.Tensor, b: torch.Tensor, *_: int) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(torch.broadcast_shapes(a.shape, b.shape)), a.dtype


@define(
    "Tensor a, Tensor b, int a_zero_point, int b_zero_point, int output_zero_point, int "
    "multiplier, int shift, "
    "int activation_min, int activation_max",
    infer=_infer,
    dtypes={"a": ACTIVATIONS, "b": ACTIVATIONS},
    zero_points={"a_zero_point": "a", "b_zero_point": "b", "output_zero_point": "output"},
    transposes=elementwise("a", "b"),
)
def mul(
    a: torch.Tensor,
    b: torch.Tensor,
    a_zero_point: int,
    b_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """clamp(requantize((a - a_zero_point) * (b - b_zero_point), multiplier, shift) +
    output_zero_point). a, b and the result int8 or int16; TFLite's MUL.
    """
    product = (a.to(torch.int64) - a_zero_point) * (b.to(torch.int64) - b_zero_point)
    out = requantize(product, multiplier, shift) + output_zero_point
    return saturate(out, activation_min, activation_max, a.dtype)
