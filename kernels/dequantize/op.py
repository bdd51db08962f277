# SPDX-License-Identifier: Apache-2.0
"""pl::dequantize: int8 or int16 to float32 at an input or output."""

from __future__ import annotations

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.quantization import ACTIVATION_TYPES, Quantization
from aot.dialect.signature import Activation


def _infer(input: torch.Tensor) -> Inferred:
    return tuple(input.shape), torch.float32


@define(infer=_infer, zero_points={"zero_point": "input"})
def dequantize(input: Activation, scale: float, zero_point: int) -> torch.Tensor:
    """Return (q - zero_point) * scale in float32."""
    return Quantization(scale, zero_point, ACTIVATION_TYPES[input.dtype]).dequantize(input)
