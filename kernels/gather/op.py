# SPDX-License-Identifier: Apache-2.0
"""pl::gather: elements by constant indices along dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.signature import Int32, Movable
from aot.dialect.transposes import Perm, TransposedValue, Transposes


def _infer(input: torch.Tensor, indices: Sequence[torch.Tensor], dims: Sequence[int]) -> Inferred:
    shape = list(input.shape)
    for index, dim in zip(indices, dims, strict=True):
        shape[dim] = index.shape[0]
    return tuple(shape), input.dtype


def _move(values: Mapping[str, Any], perm: Perm) -> TransposedValue:
    return TransposedValue({"dims": [perm[d] for d in values["dims"]]}, perm)


@define(infer=_infer, shares_quantization=True, transposes=Transposes(("input",), _move))
def gather(input: Movable, indices: Sequence[Int32], dims: Sequence[int]) -> torch.Tensor:
    """Return the elements at the indices along each of the dimensions, in their order.

    indices are int32 constants, valid, with the size of the result's dimension. dims are not
    negative, each once. The other dimensions stay.
    """
    for index, dim in zip(indices, dims, strict=True):
        input = input.index_select(dim, index)
    return input.contiguous()
