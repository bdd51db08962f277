# SPDX-License-Identifier: Apache-2.0
"""pl::max_with_indices: the largest value along a dimension, and its index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.quantization import ACTIVATIONS
from aot.dialect.transposes import Perm, TransposedValue, Transposes, reduced


def _infer(input: torch.Tensor, dim: int, keepdim: bool) -> list[Inferred]:
    shape = list(input.shape)
    shape[dim : dim + 1] = [1] if keepdim else []
    return [(tuple(shape), input.dtype), (tuple(shape), torch.int32)]


def _move(values: Mapping[str, Any], perm: Perm) -> TransposedValue:
    dim, keepdim = values["dim"], values["keepdim"]
    return TransposedValue({"dim": perm[dim]}, reduced(perm, [dim], keepdim))


@define(infer=_infer, shares_quantization=True, transposes=Transposes(("input",), _move))
def max_with_indices(
    input: Annotated[torch.Tensor, (*ACTIVATIONS, torch.float32)], dim: int, keepdim: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return maxima in the input's dtype, and their int32 indices along dim: the first index of
    several equal ones.

    dim is not negative; it has size 1 in the results, or none without keepdim.
    """
    indices = input.argmax(dim, keepdim=True)
    values = input.gather(dim, indices)
    if not keepdim:
        indices, values = indices.squeeze(dim), values.squeeze(dim)
    return values, indices.to(torch.int32)
