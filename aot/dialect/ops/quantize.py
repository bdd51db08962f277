# SPDX-License-Identifier: Apache-2.0
"""pl::quantize: float32 to int8 at a border."""

from __future__ import annotations

import torch

from aot.dialect.library import define


def _infer(
    input: torch.Tensor, scale: float, zero_point: int
) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(input.shape), torch.int8


@define(
    "Tensor input, float scale, int zero_point",
    infer=_infer,
    dtypes={"input": (torch.float32,)},
    zero_points={"zero_point": "output"},
)
def quantize(input: torch.Tensor, scale: float, zero_point: int) -> torch.Tensor:
    """saturate(rint(x * (1 / scale)) + zero_point) in float32, ties to even; NaN becomes
    zero_point.

    The reciprocal is taken in float32, as torch's quantize_per_tensor does.
    """
    inverse = torch.tensor(1.0, dtype=torch.float32) / torch.tensor(scale, dtype=torch.float32)
    rounded = torch.round(input * inverse).nan_to_num(nan=0.0).clamp(-512.0, 512.0)
    return (rounded + zero_point).clamp(-128, 127).to(torch.int8)
