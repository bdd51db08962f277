# SPDX-License-Identifier: Apache-2.0
"""pl::transpose_conv2d: transposed convolution, NHWC, per-channel weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import pad_spatial, requantize_sums, saturate
from aot.dialect.library import Inferred, define
from aot.dialect.signature import Activation, Int8, Int32, Pair


def _infer(input: torch.Tensor, weight: torch.Tensor, output_size: Sequence[int]) -> Inferred:
    return (input.shape[0], *output_size, weight.shape[0]), input.dtype


def _macs(input: torch.Tensor, weight: torch.Tensor) -> int:
    return math.prod(input.shape[:3]) * math.prod(weight.shape)


@define(infer=_infer, spatial=True, macs=_macs)
def transpose_conv2d(
    input: Activation,
    weight: Int8,
    bias: Int32,
    multiplier: Int32,
    shift: Int32,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    output_size: Pair,
    groups: int,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """Return the transposed convolution of the input.

    Input pixel (y, x) adds (x - input_zero_point) * w of tap (ky, kx) to output pixel (y, x) *
    stride - padding + (ky, kx) * dilation, if there is one. The sums go through bias,
    requantization and clamp like pl::conv2d.

    input int8 or int16 [N, H, W, C]; weight int8 [O, KH, KW, C / groups]; bias, multiplier, shift
    int32 [O]; padding is (top, left); result of the input's dtype [N, *output_size, O]. Parts of
    the result may be out of the input's reach. For int8 this is TFLite's TRANSPOSE_CONV.
    """
    x = (input.to(torch.float64) - input_zero_point).permute(0, 3, 1, 2)
    outputs, kh, kw, depth = weight.shape
    # -> torch's [C, O / groups, KH, KW]
    kernel = weight.to(torch.float64).reshape(groups, outputs // groups, kh, kw, depth)
    kernel = kernel.permute(0, 4, 1, 2, 3).reshape(groups * depth, outputs // groups, kh, kw)
    # Exact: float64 holds every sum of products.
    acc = torch.nn.functional.conv_transpose2d(
        x, kernel, stride=list(stride), groups=groups, dilation=list(dilation)
    )
    top, left = padding
    bottom, right = top + output_size[0], left + output_size[1]
    beyond = (max(bottom - acc.shape[2], 0), max(right - acc.shape[3], 0))
    acc = pad_spatial(acc, (0, beyond[0], 0, beyond[1]), 0)[:, :, top:bottom, left:right]
    acc = acc.to(torch.int64).permute(0, 2, 3, 1) + bias.to(torch.int64)
    out = requantize_sums(acc, multiplier, shift, input.dtype) + output_zero_point
    return saturate(out, activation_min, activation_max, input.dtype).contiguous()
