# SPDX-License-Identifier: Apache-2.0
"""pl::reshape: the same bytes under another shape."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.signature import Movable


def _infer(input: torch.Tensor, shape: Sequence[int]) -> Inferred:
    return tuple(shape), input.dtype


@define(infer=_infer, shares_quantization=True)
def reshape(input: Movable, shape: Sequence[int]) -> torch.Tensor:
    """Reshape in row-major order; shape has no -1. A plan makes it an alias and moves no bytes."""
    return input.reshape(list(shape)).clone()
