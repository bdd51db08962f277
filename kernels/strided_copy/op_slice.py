# SPDX-License-Identifier: Apache-2.0
"""pl::slice: a strided range of one dimension."""

from __future__ import annotations

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.signature import Movable
from aot.dialect.transposes import along_dim


def _infer(input: torch.Tensor, dim: int, start: int, end: int, step: int) -> Inferred:
    shape = list(input.shape)
    shape[dim] = -(-(end - start) // step)
    return tuple(shape), input.dtype


@define(infer=_infer, shares_quantization=True, transposes=along_dim("input"))
def slice(input: Movable, dim: int, start: int, end: int, step: int) -> torch.Tensor:
    """Return input[start:end:step] along dim.

    Arguments are normalised: 0 <= start < end <= size, step >= 1, dim not negative.
    """
    indices = torch.arange(start, end, step)
    return input.index_select(dim, indices)
