# SPDX-License-Identifier: Apache-2.0
"""pl::reshape: the same bytes under another shape."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.library import define
from aot.dialect.ops.transpose import MOVABLE


def _infer(input: torch.Tensor, shape: Sequence[int]) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(shape), input.dtype


@define(
    "Tensor input, int[] shape",
    infer=_infer,
    dtypes={"input": MOVABLE},
    shares_quantization=True,
)
def reshape(input: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Row-major reshape; shape has no -1. A plan makes it an alias: no bytes move."""
    return input.reshape(list(shape)).clone()
