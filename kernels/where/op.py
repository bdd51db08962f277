# SPDX-License-Identifier: Apache-2.0
"""pl::where: one of two values, selected by a mask, with broadcasting."""

from __future__ import annotations

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.signature import Mask, Movable
from aot.dialect.transposes import elementwise


def _infer(mask: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> Inferred:
    return tuple(torch.broadcast_shapes(mask.shape, a.shape, b.shape)), a.dtype


@define(infer=_infer, shares_quantization=True, transposes=elementwise("mask", "a", "b"))
def where(mask: Mask, a: Movable, b: Movable) -> torch.Tensor:
    """Return a where mask, else b; a, b and the result have one dtype, and one quantization if any.

    For bools it is any function of two: where(m, a, False) is m and a.
    """
    return torch.where(mask, a, b)
