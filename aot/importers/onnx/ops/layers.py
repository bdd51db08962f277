# SPDX-License-Identifier: Apache-2.0
"""Convolutions, linear layers and products."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from aot.importers.onnx.call import NodeCall, UnsupportedNode
from aot.importers.onnx.registry import function, layer
from aot.importers.onnx.windows import OnnxWindows

_CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d}


@function("Conv")
def conv(call: NodeCall, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """One to three spatial dimensions; any padding, groups and dilation."""
    windows = OnnxWindows.of(call, x, weight.shape[2:])
    padding = windows.before
    if not windows.is_even:
        x, padding = windows.padded(x), [0] * len(padding)
    run = _CONVOLUTIONS[len(padding)]
    groups = call.attribute("group", 1)
    return run(x, weight, bias, windows.stride, padding, windows.dilation, groups)


@function("ConvTranspose")
def conv_transpose(call: NodeCall, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """One or two spatial dimensions; no `output_shape` and no `auto_pad`."""
    rank = weight.dim() - 2
    if rank not in _TRANSPOSED:
        raise UnsupportedNode(f"{rank} spatial dimensions")
    if call.optional("output_shape") or call.attribute("auto_pad", "NOTSET") != "NOTSET":
        raise UnsupportedNode("output_shape or auto_pad; give pads")
    windows = OnnxWindows.of(call, x, weight.shape[2:])
    extra = call.attribute("output_padding", [0] * rank)
    # Uneven padding: computed with the smaller one, and cut.
    padding = [min(pair) for pair in zip(windows.before, windows.after, strict=True)]
    groups = call.attribute("group", 1)
    run = _TRANSPOSED[rank]
    y = run(x, weight, bias, windows.stride, padding, extra, groups, windows.dilation)
    for axis, least in enumerate(padding):
        first, last = windows.before[axis] - least, windows.after[axis] - least
        if first or last:
            y = y.narrow(axis + 2, first, y.shape[axis + 2] - first - last)
    return y


class Linear(nn.Module):
    """Product with a constant matrix, and bias.

    Attributes:
      weight: [O, I].
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.contiguous())
        self.bias = None if bias is None else nn.Parameter(bias)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


@layer("MatMul")
def matmul_layer(call: NodeCall) -> nn.Module | None:
    weight = call.constants[1]
    if call.is_constant(0) or weight is None or weight.dim() != 2:
        return None
    return Linear(weight.t(), None) if weight.is_floating_point() else None


@function("MatMul")
def matmul(call: NodeCall, x: Tensor, y: Tensor) -> Tensor:
    return torch.matmul(x, y)


@layer("Gemm")
def gemm_layer(call: NodeCall) -> nn.Module | None:
    weight = call.constants[1]
    bias = call.constants[2] if call.has(2) else None
    is_plain = call.attribute("alpha", 1.0) == call.attribute("beta", 1.0) == 1.0
    if call.is_constant(0) or weight is None or not is_plain or call.attribute("transA", 0):
        return None
    if weight.dim() != 2 or (call.has(2) and bias is None):
        return None
    rows = weight if call.attribute("transB", 0) else weight.t()
    if bias is not None:
        if bias.numel() not in (1, len(rows)) or bias.shape[:-1].numel() != 1:
            return None
        bias = bias.reshape(-1).expand(len(rows)).clone()
    return Linear(rows, bias)


@function("Gemm")
def gemm(call: NodeCall, x: Tensor, y: Tensor, bias: Tensor | None = None) -> Tensor:
    x = x.t() if call.attribute("transA", 0) else x
    y = y.t() if call.attribute("transB", 0) else y
    alpha, beta = call.attribute("alpha", 1.0), call.attribute("beta", 1.0)
    product = torch.matmul(x, y) if alpha == 1 else torch.matmul(x, y) * alpha
    if bias is None:
        return product
    return product + (bias if beta == 1 else bias * beta)


@function("Einsum")
def einsum(call: NodeCall, *values: Tensor) -> Tensor:
    return torch.einsum(call.attribute("equation", "").replace(" ", ""), *values)
