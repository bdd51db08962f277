# SPDX-License-Identifier: Apache-2.0
"""pl::transpose: reorders dimensions; the result is contiguous."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.signature import Movable


def _infer(input: torch.Tensor, perm: Sequence[int]) -> Inferred:
    return tuple(input.shape[d] for d in perm), input.dtype


@define(infer=_infer, shares_quantization=True)
def transpose(input: Movable, perm: Sequence[int]) -> torch.Tensor:
    """Permute: dimension d of the contiguous result is dimension perm[d] of the input."""
    return input.permute(list(perm)).clone(memory_format=torch.contiguous_format)
