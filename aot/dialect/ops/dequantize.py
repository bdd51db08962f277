# SPDX-License-Identifier: Apache-2.0
"""pl::dequantize: int8 or int16 to float32 at a border."""

from __future__ import annotations

import torch

from aot.dialect.library import define
from aot.dialect.quantization import ACTIVATION_TYPES, ACTIVATIONS, Quantization


def _infer(
    input: torch.Tensor, scale: float, zero_point: int
) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(input.shape), torch.float32


@define(
    "Tensor input, float scale, int zero_point",
    infer=_infer,
    dtypes={"input": ACTIVATIONS},
    zero_points={"zero_point": "input"},
)
def dequantize(input: torch.Tensor, scale: float, zero_point: int) -> torch.Tensor:
    """(q - zero_point) * scale in float32."""
    return Quantization(scale, zero_point, ACTIVATION_TYPES[input.dtype]).dequantize(input)
