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
    """Return the largest value over dim; for bools, True if any is true. dim are not negative."""
    return input.amax(list(dim), keepdim)


@define(infer=reduced, shares_quantization=True, transposes=along_dims("input"))
def amin(
    input: Annotated[torch.Tensor, (*ACTIVATIONS, torch.bool)], dim: Sequence[int], keepdim: bool
) -> torch.Tensor:
    """Return the smallest value over dim; for bools, True if all are true. dim are not negative."""
    return input.amin(list(dim), keepdim)
