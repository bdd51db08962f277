# SPDX-License-Identifier: Apache-2.0
"""pl::channels_last_to_nhwc and pl::nhwc_to_channels_last: conversion between torch's channels_last
and NHWC at inputs and outputs.

torch's channels_last tensor has the shape [N, C, H, W] and lies in memory as NHWC (dim_order 0, 2,
3, 1). These two ops only change the shape; a plan makes them aliases: no bytes move.
"""

from __future__ import annotations

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.signature import Movable


def _infer_nhwc(input: torch.Tensor) -> Inferred:
    n, c, h, w = input.shape
    return (n, h, w, c), input.dtype


@define(infer=_infer_nhwc, shares_quantization=True)
def channels_last_to_nhwc(input: Movable) -> torch.Tensor:
    """Convert [N, C, H, W] channels_last to [N, H, W, C] contiguous."""
    return input.permute(0, 2, 3, 1).clone(memory_format=torch.contiguous_format)


def _infer_channels_last(input: torch.Tensor) -> Inferred:
    n, h, w, c = input.shape
    return (n, c, h, w), input.dtype


@define(infer=_infer_channels_last, shares_quantization=True, memory_format=torch.channels_last)
def nhwc_to_channels_last(input: Movable) -> torch.Tensor:
    """Convert [N, H, W, C] contiguous to [N, C, H, W] channels_last."""
    return input.permute(0, 3, 1, 2).clone(memory_format=torch.channels_last)
