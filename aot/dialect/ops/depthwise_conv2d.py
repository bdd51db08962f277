# SPDX-License-Identifier: Apache-2.0
"""pl::depthwise_conv2d: depthwise convolution, NHWC, with a channel multiplier."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import exact_depthwise_conv2d, requantize_sums, saturate
from aot.dialect.library import define
from aot.dialect.ops.conv2d import convolved_size
from aot.dialect.quantization import ACTIVATION_TYPES, ACTIVATIONS


def _infer(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    *_: int,
) -> tuple[tuple[int, ...], torch.dtype]:
    n, h, w, _c = input.shape
    kh, kw, o = weight.shape
    oh = convolved_size(h, kh, stride[0], padding[0], padding[1], dilation[0])
    ow = convolved_size(w, kw, stride[1], padding[2], padding[3], dilation[1])
    return (n, oh, ow, o), input.dtype


def _macs(input: torch.Tensor, weight: torch.Tensor, *args: object) -> int:
    shape, _ = _infer(input, weight, *args)  # type: ignore[arg-type]
    return math.prod(shape) * math.prod(weight.shape[:2])


@define(
    "Tensor input, Tensor weight, Tensor bias, Tensor multiplier, Tensor shift, int[2] stride, "
    "int[4] padding, "
    "int[2] dilation, int input_zero_point, int output_zero_point, int activation_min, int "
    "activation_max",
    infer=_infer,
    dtypes={
        "input": ACTIVATIONS,
        "weight": (torch.int8,),
        "bias": (torch.int32,),
        "multiplier": (torch.int32,),
        "shift": (torch.int32,),
    },
    zero_points={"input_zero_point": "input", "output_zero_point": "output"},
    spatial=True,
    macs=_macs,
)
def depthwise_conv2d(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """Each output channel o convolves input channel o // (O / C); otherwise as pl::conv2d.

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
