# SPDX-License-Identifier: Apache-2.0
"""Import of AVERAGE_POOL_2D and MAX_POOL_2D; a fused activation becomes an op of its own."""

from __future__ import annotations

from typing import Any

import torch
from ethosu.vela.tflite.Pool2DOptions import Pool2DOptions
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.importers.tflite.call import OperatorCall, Unsupported
from aot.importers.tflite.clamps import clamped
from aot.importers.tflite.windows import windows
from kernels.avg_pool2d.op import avg_pool2d
from kernels.max_pool2d.op import max_pool2d


def average_pool_2d(call: OperatorCall) -> Node:
    x, options, kernel, stride = _pool(call)
    padding, size = windows(options.Padding(), shape_of(x)[1:3], kernel, stride)
    zero_point = call.of(x).zero_point
    pooled = call.emit(
        avg_pool2d, x, kernel, stride, padding, size, False, 0, zero_point, edge=call.edge
    )
    return clamped(call, pooled, call.activation(options))


def max_pool_2d(call: OperatorCall) -> Node:
    x, options, kernel, stride = _pool(call)
    padding, size = windows(options.Padding(), shape_of(x)[1:3], kernel, stride)
    pooled = call.emit(max_pool2d, x, kernel, stride, padding, [1, 1], size, edge=call.edge)
    return clamped(call, pooled, call.activation(options))


def _pool(call: OperatorCall) -> tuple[Node, Any, list[int], list[int]]:
    x, options = call.image(0), call.options(Pool2DOptions)
    kernel = [options.FilterHeight(), options.FilterWidth()]
    stride = [options.StrideH(), options.StrideW()]
    if min(*kernel, *stride) < 1:
        raise Unsupported(f"window {kernel}, stride {stride}")
    if x.meta["val"].dtype not in (torch.int8, torch.int16):
        raise Unsupported("float values are not supported here")
    call.same_quantization(x)
    return x, options, kernel, stride
