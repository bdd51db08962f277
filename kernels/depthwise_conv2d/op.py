# SPDX-License-Identifier: Apache-2.0
"""pl::depthwise_conv2d: depthwise convolution, NHWC, with a channel multiplier."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import exact_depthwise_conv2d, requantize_sums, saturate
from aot.dialect.library import Inferred, define
from aot.dialect.quantization import ACTIVATION_TYPES
from aot.dialect.signature import Activation, Int8, Int32, Pair, Sides
from kernels.conv2d.op import convolved_size


def _infer(
    input: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Inferred:
    n, h, w, _c = input.shape
    kh, kw, o = weight.shape
    oh = convolved_size(h, kh, stride[0], padding[0], padding[1], dilation[0])
    ow = convolved_size(w, kw, stride[1], padding[2], padding[3], dilation[1])
    return (n, oh, ow, o), input.dtype


def _macs(weight: torch.Tensor, output: Sequence[int]) -> int:
    return math.prod(output) * math.prod(weight.shape[:2])


@define(infer=_infer, spatial=True, macs=_macs)
def depthwise_conv2d(
    input: Activation,
    weight: Int8,
    bias: Int32,
    multiplier: Int32,
    shift: Int32,
    stride: Pair,
    padding: Sides,
    dilation: Pair,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """Return each output channel o convolves input channel o // (O / C); otherwise as pl::conv2d.

    input int8 or int16 [N, H, W, C]; weight int8 [KH, KW, O] with O a multiple of C; result of the
    input's dtype [N, OH, OW, O]. Of int8 TFLite's DEPTHWISE_CONV_2D.
    """
    top, bottom, left, right = padding
    x = input.to(torch.float32).sub_(input_zero_point)
    x = torch.nn.functional.pad(x, (0, 0, left, right, top, bottom))
    if weight.shape[2] > x.shape[3]:
        x = x.repeat_interleave(weight.shape[2] // x.shape[3], dim=3)
    kind = ACTIVATION_TYPES[input.dtype]
    largest = kind.quant_max - kind.quant_min
    acc = exact_depthwise_conv2d(x, weight, stride, dilation, largest)
    out = requantize_sums(acc.add_(bias), multiplier, shift, input.dtype).add_(output_zero_point)
    return saturate(out, activation_min, activation_max, input.dtype)
