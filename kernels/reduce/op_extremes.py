# SPDX-License-Identifier: Apache-2.0
"""pl::amax and pl::amin: the largest and the smallest value over dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import torch

from aot.dialect.library import define, reduced
from aot.dialect.quantization import ACTIVATIONS
from aot.dialect.transposes import along_dims


@define(infer=reduced, shares_quantization=True, transposes=along_dims("input"))
def amax(
    input: Annotated[torch.Tensor, (*ACTIVATIONS, torch.bool)], dim: Sequence[int], keepdim: bool
) -> torch.Tensor:
    """The largest value over dim, which are not negative; of bools, whether any is true."""
    return input.amax(list(dim), keepdim)


@define(infer=reduced, shares_quantization=True, transposes=along_dims("input"))
def amin(
    input: Annotated[torch.Tensor, (*ACTIVATIONS, torch.bool)], dim: Sequence[int], keepdim: bool
) -> torch.Tensor:
    """The smallest value over dim, which are not negative; of bools, whether all are true."""
    return input.amin(list(dim), keepdim)
