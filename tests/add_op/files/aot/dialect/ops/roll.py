# SPDX-License-Identifier: Apache-2.0
"""pl::roll: values shifted along a dimension; those that leave it come in at its other end."""

from __future__ import annotations

import torch

from aot.dialect.library import define
from aot.dialect.signature import Int8
from aot.dialect.transposes import along_dim


@define(shares_quantization=True, transposes=along_dim("input"))
def roll(input: Int8, shift: int, dim: int) -> torch.Tensor:
    """Place i of the result is place (i - shift) mod size of the input; 0 <= shift < size."""
    return torch.roll(input, shift, dim)
