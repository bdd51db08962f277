# SPDX-License-Identifier: Apache-2.0
"""pl::maximum and pl::minimum: the larger and the smaller of two values, with broadcasting."""

from __future__ import annotations

import torch

from aot.dialect.library import define
from aot.dialect.quantization import ACTIVATIONS
from aot.dialect.transposes import elementwise


def _infer(a: torch.Tensor, b: torch.Tensor) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(torch.broadcast_shapes(a.shape, b.shape)), a.dtype


@define(
    "Tensor a, Tensor b",
    infer=_infer,
    dtypes={"a": ACTIVATIONS, "b": ACTIVATIONS},
    shares_quantization=True,
    transposes=elementwise("a", "b"),
)
def maximum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The larger of a and b, int8 or int16, all of one quantization."""
    return torch.maximum(a, b)


@define(
    "Tensor a, Tensor b",
    infer=_infer,
    dtypes={"a": ACTIVATIONS, "b": ACTIVATIONS},
    shares_quantization=True,
    transposes=elementwise("a", "b"),
)
def minimum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The smaller of a and b, int8 or int16, all of one quantization."""
    return torch.minimum(a, b)
