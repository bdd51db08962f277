# SPDX-License-Identifier: Apache-2.0
"""pl::cat: concatenation along a dimension."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.signature import Movable
from aot.dialect.transposes import along_dim


def _infer(inputs: Sequence[torch.Tensor], dim: int) -> Inferred:
    shape = list(inputs[0].shape)
    shape[dim] = sum(x.shape[dim] for x in inputs)
    return tuple(shape), inputs[0].dtype


@define(infer=_infer, shares_quantization=True, transposes=along_dim("inputs"))
def cat(inputs: Sequence[Movable], dim: int) -> torch.Tensor:
    """Concatenate inputs of one dtype and quantization along dim, which is not negative."""
    return torch.cat(list(inputs), dim=dim)
