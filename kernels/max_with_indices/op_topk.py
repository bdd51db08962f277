# SPDX-License-Identifier: Apache-2.0
"""pl::topk: the k largest or smallest values along a dimension, in order, and their indices."""

from __future__ import annotations

from typing import Annotated

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.quantization import ACTIVATIONS
from aot.dialect.transposes import along_dim


def _infer(input: torch.Tensor, k: int, dim: int) -> list[Inferred]:
    shape = list(input.shape)
    shape[dim] = k
    return [(tuple(shape), input.dtype), (tuple(shape), torch.int32)]


@define(infer=_infer, shares_quantization=True, transposes=along_dim("input"))
def topk(
    input: Annotated[torch.Tensor, (*ACTIVATIONS, torch.float32, torch.int32)],
    k: int,
    dim: int,
    largest: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return values of the input's type and int32 indices along dim, the largest (or smallest)
    first.

    dim has size k in the results and is not negative. Of equal values the first one comes first.
    """
    values, indices = input.sort(dim=dim, descending=largest, stable=True)
    best, places = values.narrow(dim, 0, k), indices.narrow(dim, 0, k).to(torch.int32)
    row_major = torch.contiguous_format
    return best.clone(memory_format=row_major), places.clone(memory_format=row_major)
