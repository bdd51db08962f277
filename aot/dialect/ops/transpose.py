# SPDX-License-Identifier: Apache-2.0
"""pl::transpose: reorders dimensions; the result is contiguous."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.library import define

MOVABLE = (torch.int8, torch.int16, torch.int32, torch.float32, torch.bool)


def _infer(input: torch.Tensor, perm: Sequence[int]) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(input.shape[d] for d in perm), input.dtype


@define(
    "Tensor input, int[] perm",
    infer=_infer,
    dtypes={"input": MOVABLE},
    shares_quantization=True,
)
def transpose(input: torch.Tensor, perm: Sequence[int]) -> torch.Tensor:
    """Dimension d of the result is dimension perm[d] of the input; contiguous."""
    return input.permute(list(perm)).clone(memory_format=torch.contiguous_format)
