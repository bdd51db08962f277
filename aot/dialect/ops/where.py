# SPDX-License-Identifier: Apache-2.0
"""pl::where: one of two values, as a mask says, with broadcasting."""

from __future__ import annotations

import torch

from aot.dialect.library import define
from aot.dialect.quantization import ACTIVATIONS
from aot.dialect.transposes import elementwise

_DTYPES = (*ACTIVATIONS, torch.int32, torch.float32, torch.bool)


def _infer(
    mask: torch.Tensor, a: torch.Tensor, b: torch.Tensor
) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(torch.broadcast_shapes(mask.shape, a.shape, b.shape)), a.dtype


@define(
    "Tensor mask, Tensor a, Tensor b",
    infer=_infer,
    dtypes={
        "a": _DTYPES,
        "b": _DTYPES,
        "mask": (torch.bool,),
    },
    shares_quantization=True,
    transposes=elementwise("mask", "a", "b"),
)
def where(mask: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a where mask, else b; a, b and the result of one dtype, and of one quantization if any.

    Of bools it is any function of two: where(m, a, False) is m and a.
    """
    return torch.where(mask, a, b)
