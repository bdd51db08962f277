# SPDX-License-Identifier: Apache-2.0
"""pl::maximum and pl::minimum: the larger and the smaller of two values, with broadcasting."""

from __future__ import annotations

import torch

from aot.dialect.library import broadcast, define
from aot.dialect.signature import Activation
from aot.dialect.transposes import elementwise


@define(infer=broadcast, shares_quantization=True, transposes=elementwise("a", "b"))
def maximum(a: Activation, b: Activation) -> torch.Tensor:
    """Return the larger of a and b, int8 or int16, all of one quantization."""
    return torch.maximum(a, b)


@define(infer=broadcast, shares_quantization=True, transposes=elementwise("a", "b"))
def minimum(a: Activation, b: Activation) -> torch.Tensor:
    """Return the smaller of a and b, int8 or int16, all of one quantization."""
    return torch.minimum(a, b)
