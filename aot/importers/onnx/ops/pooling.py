# SPDX-License-Identifier: Apache-2.0
"""Pools."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from aot.importers.onnx.call import NodeCall, UnsupportedNode
from aot.importers.onnx.registry import function
from aot.importers.onnx.windows import OnnxWindows

_MAXIMA = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
_MEANS = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


def _windows(call: NodeCall, x: Tensor) -> tuple[OnnxWindows, bool]:
    windows = OnnxWindows.of(call, x, call.attribute("kernel_shape", [0]))
    return windows, bool(call.attribute("ceil_mode", 0))


@function("MaxPool")
def max_pool(call: NodeCall, x: Tensor) -> Tensor:
    """Without indices."""
    if call.outputs > 1:
        raise UnsupportedNode("indices as an output")
    windows, ceils = _windows(call, x)
    padding = windows.before
    fits = all(2 * p <= k for p, k in zip(padding, windows.kernel, strict=True))
    if not windows.is_even or not fits:
        x, padding = windows.padded(x, -math.inf), [0] * len(padding)
    run = _MAXIMA[len(padding)]
    return run(x, windows.kernel, windows.stride, padding, windows.dilation, ceils)


@function("AveragePool")
def average_pool(call: NodeCall, x: Tensor) -> Tensor:
    """No dilation; uneven padding only without `ceil_mode`."""
    windows, ceils = _windows(call, x)
    if {*windows.dilation} != {1}:
        raise UnsupportedNode(f"dilation {windows.dilation}")
    padding, counts = windows.before, bool(call.attribute("count_include_pad", 0))
    run = _MEANS[len(padding)]
    fits = all(2 * p <= k for p, k in zip(padding, windows.kernel, strict=True))
    if windows.is_even and fits:
        return run(x, windows.kernel, windows.stride, padding, ceils, counts)
    if ceils:
        raise UnsupportedNode("uneven padding with ceil_mode")
    zeros = [0] * len(padding)
    sums = run(windows.padded(x), windows.kernel, windows.stride, zeros, False, True)
    if counts:
        return sums
    ones = windows.padded(torch.ones(1, 1, *x.shape[2:]))
    return sums / run(ones, windows.kernel, windows.stride, zeros, False, True)


@function("GlobalAveragePool")
def global_average_pool(call: NodeCall, x: Tensor) -> Tensor:
    return x.mean([*range(2, x.dim())], keepdim=True)


@function("GlobalMaxPool")
def global_max_pool(call: NodeCall, x: Tensor) -> Tensor:
    return x.amax([*range(2, x.dim())], keepdim=True)
