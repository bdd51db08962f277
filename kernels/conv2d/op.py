# SPDX-License-Identifier: Apache-2.0
"""pl::conv2d: convolution, NHWC, per-channel weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from aot.dialect.arithmetic import exact_conv2d, pad_spatial, requantize_sums, saturate
from aot.dialect.library import Inferred, define
from aot.dialect.signature import Activation, Int8, Int32, Pair, Sides
from aot.dialect.transposes import Perm, TransposedValue, Transposes


def convolved_size(
    size: int, kernel: int, stride: int, pad_before: int, pad_after: int, dilation: int
) -> int:
    """Return the output extent of one spatial dimension, rounded down."""
    return (size + pad_before + pad_after - dilation * (kernel - 1) - 1) // stride + 1


def _infer(
    input: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Inferred:
    n, h, w, _c = input.shape
    o, kh, kw, _i = weight.shape
    oh = convolved_size(h, kh, stride[0], padding[0], padding[1], dilation[0])
    ow = convolved_size(w, kw, stride[1], padding[2], padding[3], dilation[1])
    return (n, oh, ow, o), input.dtype


def _macs(weight: torch.Tensor, output: Sequence[int]) -> int:
    return math.prod(output) * math.prod(weight.shape[1:])


def _move(values: Mapping[str, Any], perm: Perm) -> TransposedValue | None:
    """Allow any permutation keeping the channels last.

    The convolution must be 1x1, and must not add channels.
    """
    channels, kh, kw, own = values["weight"].shape
    is_of_one = (kh, kw, *values["stride"]) == (1, 1, 1, 1) and not any(values["padding"])
    grows = channels > own * values["groups"]
    return (
        None if grows or not is_of_one or perm[-1] != len(perm) - 1 else TransposedValue({}, perm)
    )


@define(infer=_infer, spatial=True, macs=_macs, transposes=Transposes(("input",), _move))
def conv2d(
    input: Activation,
    weight: Int8,
    bias: Int32,
    multiplier: Int32,
    shift: Int32,
    stride: Pair,
    padding: Sides,
    dilation: Pair,
    groups: int,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """Return clamp(requantize(bias + sum (x - input_zero_point) * w, multiplier[o], shift[o]) +
    output_zero_point), with arithmetic.requantize_sums.

    input int8 or int16 [N, H, W, C]; weight int8 [O, KH, KW, C / groups]; bias, multiplier, shift
    int32 [O]; padding is (top, bottom, left, right) of real zeros; result of the input's dtype [N,
    OH, OW, O]. For int8 this is TFLite's CONV_2D.
    """
    x = input.to(torch.float64).sub_(input_zero_point)
    if weight.shape[1:3] == (1, 1) and groups == 1 and not any(padding):
        points = x[:, :: stride[0], :: stride[1]]
        acc = (points @ weight.flatten(1).to(torch.float64).T).to(torch.int64)
    else:
        x = pad_spatial(x.permute(0, 3, 1, 2), padding, 0)
        acc = exact_conv2d(x, weight.permute(0, 3, 1, 2), stride, dilation, groups)
        acc = acc.permute(0, 2, 3, 1)
    out = requantize_sums(acc.add_(bias), multiplier, shift, input.dtype).add_(output_zero_point)
    return saturate(out, activation_min, activation_max, input.dtype).contiguous()
