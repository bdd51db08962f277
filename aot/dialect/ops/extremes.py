# SPDX-License-Identifier: Apache-2.0
"""pl::amax and pl::amin: the largest and the smallest value over dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.library import define, reduced_shape
from aot.dialect.quantization import ACTIVATIONS
from aot.dialect.transposes import along_dims


def _infer(
    input: torch.Tensor, dim: Sequence[int], keepdim: bool
) -> tuple[tuple[int, ...], torch.dtype]:
    return reduced_shape(input.shape, dim, keepdim), input.dtype


@define(
    "Tensor input, int[] dim, bool keepdim",
    infer=_infer,
    dtypes={"input": (*ACTIVATIONS, torch.bool)},
    shares_quantization=True,
    transposes=along_dims("input"),
)
def amax(input: torch.Tensor, dim: Sequence[int], keepdim: bool) -> torch.Tensor:
    """The largest value over dim, which are not negative; of bools, whether any is true."""
    return input.amax(list(dim), keepdim)


@define(
    "Tensor input, int[] dim, bool keepdim",
    infer=_infer,
    dtypes={"input": (*ACTIVATIONS, torch.bool)},
    shares_quantization=True,
    transposes=along_dims("input"),
)
def amin(input: torch.Tensor, dim: Sequence[int], keepdim: bool) -> torch.Tensor:
    """The smallest value over dim, which are not negative; of bools, whether all are true."""
    return input.amin(list(dim), keepdim)
