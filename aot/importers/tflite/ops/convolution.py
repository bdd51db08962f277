# SPDX-License-Identifier: Apache-2.0
"""Import of CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV."""

from __future__ import annotations

from typing import Any

import torch
from ethosu.vela.tflite.Conv2DOptions import Conv2DOptions
from ethosu.vela.tflite.DepthwiseConv2DOptions import DepthwiseConv2DOptions
from ethosu.vela.tflite.TransposeConvOptions import TransposeConvOptions
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.importers.tflite.arithmetic import activation_range
from aot.importers.tflite.call import OperatorCall, Unsupported
from aot.importers.tflite.weights import (
    bias_of,
    factors,
    has_narrow_bias,
    per_channel,
    weight_of,
)
from aot.importers.tflite.windows import paddings
from kernels.conv2d.op import conv2d
from kernels.depthwise_conv2d.op import depthwise_conv2d
from kernels.transpose_conv2d.op import transpose_conv2d


def conv_2d(call: OperatorCall) -> Node:
    x, options = call.image(0), call.options(Conv2DOptions)
    weight = weight_of(call, 1, rank=4)
    stride, dilation = _steps(options)
    channels, (kh, kw, depth) = weight.shape[0], weight.shape[1:]
    input_channels = shape_of(x)[3]
    if input_channels % depth != 0 or channels % (input_channels // depth) != 0:
        raise Unsupported(f"weights {list(weight.shape)} for {input_channels} channels")
    constants = _constants(call, x, weight, axis=0, bias=2)
    result = call.emit(
        conv2d,
        x,
        *constants,
        stride,
        paddings(options.Padding(), shape_of(x)[1:3], (kh, kw), stride, dilation),
        dilation,
        input_channels // depth,
        *_tail(call, x, call.activation(options)),
        edge=call.edge,
    )
    if has_narrow_bias(call, 2, call.of(x)):
        call.differs(result, "bias of int32")
    return result


def depthwise_conv_2d(call: OperatorCall) -> Node:
    x, options = call.image(0), call.options(DepthwiseConv2DOptions)
    weight = weight_of(call, 1, rank=4)
    if weight.shape[0] != 1 or weight.shape[3] % shape_of(x)[3] != 0:
        raise Unsupported(f"weights {list(weight.shape)} for {shape_of(x)[3]} channels")
    stride, dilation = _steps(options)
    kernel = (weight.shape[1], weight.shape[2])
    constants = _constants(call, x, weight[0], axis=3, bias=2)
    result = call.emit(
        depthwise_conv2d,
        x,
        *constants,
        stride,
        paddings(options.Padding(), shape_of(x)[1:3], kernel, stride, dilation),
        dilation,
        *_tail(call, x, call.activation(options)),
        edge=call.edge,
    )
    return _named(call, result, x, 2)


def transpose_conv(call: OperatorCall) -> Node:
    """Import TRANSPOSE_CONV. Its first input is the output's shape; the output has it too."""
    x, options = call.image(2), call.options(TransposeConvOptions)
    weight = weight_of(call, 1, rank=4)
    if weight.shape[3] != shape_of(x)[3]:
        raise Unsupported(f"weights {list(weight.shape)} for {shape_of(x)[3]} channels")
    stride = [options.StrideH(), options.StrideW()]
    _check_steps(stride)
    if len(call.output.shape) != 4:
        raise Unsupported(f"its result cannot have the shape {list(call.output.shape)}")
    size = list(call.output.shape[1:3])
    kernel = (weight.shape[1], weight.shape[2])
    top, _, left, _ = paddings(options.Padding(), size, kernel, stride, [1, 1])
    constants = _constants(call, x, weight, axis=0, bias=3)
    result = call.emit(
        transpose_conv2d,
        x,
        *constants,
        stride,
        [top, left],
        [1, 1],
        size,
        1,
        *_tail(call, x, call.activation(options)),
        edge=call.edge,
    )
    return _named(call, result, x, 3)


def _named(call: OperatorCall, result: Node, x: Node, bias: int) -> Node:
    """Return a result, with its difference if TFLite Micro reads its biases as others."""
    if has_narrow_bias(call, bias, call.of(x)):
        call.differs(result, "bias of int32 as int64")
    return result


def _steps(options: Any) -> tuple[list[int], list[int]]:
    stride = [options.StrideH(), options.StrideW()]
    dilation = [options.DilationHFactor(), options.DilationWFactor()]
    _check_steps([*stride, *dilation])
    return stride, dilation


def _check_steps(steps: list[int]) -> None:
    if min(steps) < 1:
        raise Unsupported(f"its stride or dilation is {min(steps)}; it must be positive")


def _constants(
    call: OperatorCall, x: Node, weight: torch.Tensor, axis: int, bias: int
) -> list[Node]:
    """Return weight, bias, multiplier and shift."""
    channels = weight.shape[0 if axis == 0 else -1]
    scales = per_channel(call, 1, channels, axis)
    of = call.of(x)
    reals = [of.scale * scale / call.quantization.scale for scale in scales]
    multiplier, shift = factors(reals, of.type.dtype)
    return [
        call.constant("weight", weight),
        call.constant("bias", bias_of(call, bias, channels, of)),
        call.constant("multiplier", multiplier),
        call.constant("shift", shift),
    ]


def _tail(call: OperatorCall, x: Node, activation: str) -> tuple[int, ...]:
    out = call.quantization
    return call.of(x).zero_point, out.zero_point, *activation_range(activation, out)
