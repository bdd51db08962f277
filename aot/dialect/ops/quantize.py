# SPDX-License-Identifier: Apache-2.0
"""pl::quantize: float32 to int8 at a border."""

from __future__ import annotations

import torch

from aot.dialect.library import define
from aot.dialect.quantization import Quantization
from aot.dialect.transposes import elementwise


def _infer(
    input: torch.Tensor, scale: float, zero_point: int
) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(input.shape), torch.int8


@define(
    "Tensor input, float scale, int zero_point",
    infer=_infer,
    dtypes={"input": (torch.float32,)},
    zero_points={"zero_point": "output"},
    transposes=elementwise("input"),
)
def quantize(input: torch.Tensor, scale: float, zero_point: int) -> torch.Tensor:
    """As Quantization.quantize says."""
    return Quantization(scale, zero_point).quantize(input)
