# SPDX-License-Identifier: Apache-2.0
"""pl::quantize: float32 to int8 or int16 at an input or output."""

from __future__ import annotations

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.dialect.signature import Float32
from aot.dialect.transposes import elementwise


def _infer(input: torch.Tensor, bits: int) -> Inferred:
    return tuple(input.shape), torch.int16 if bits == 16 else torch.int8


def quantize_arguments(quantization: Quantization) -> tuple[float, int, int]:
    """Return scale, zero_point and bits."""
    bits = 8 * quantization.type.dtype.itemsize
    return quantization.scale, quantization.zero_point, bits


@define(infer=_infer, zero_points={"zero_point": "output"}, transposes=elementwise("input"))
def quantize(input: Float32, scale: float, zero_point: int, bits: int) -> torch.Tensor:
    """Quantize like Quantization.quantize; bits, 8 or 16, selects int8 or int16."""
    return Quantization(scale, zero_point, INT16 if bits == 16 else INT8).quantize(input)
