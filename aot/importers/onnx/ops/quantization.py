# SPDX-License-Identifier: Apache-2.0
"""QuantizeLinear and DequantizeLinear as torchao's quantize and dequantize ops."""

from __future__ import annotations

import torch
from torch import Tensor

from aot.dialect.qdq import DEQUANTIZE, QUANTIZE
from aot.importers.onnx.call import NodeCall, UnsupportedNode
from aot.importers.onnx.quantized import QuantizedConstant
from aot.importers.onnx.registry import function

UNSIGNED = 128
"""Difference of uint8 and int8 values."""

# The imported types of zero points: uint16 becomes int32 (file.py).
_KINDS = {
    torch.int8: (-128, 127, torch.int8, 0),
    torch.uint8: (-128, 127, torch.int8, UNSIGNED),
    torch.int16: (-32768, 32767, torch.int16, 0),
    torch.int32: (-32768, 32767, torch.int16, 2**15),
}


def _arguments(call: NodeCall, dtype: torch.dtype) -> tuple[float, int, int, int, torch.dtype]:
    if dtype not in _KINDS:
        raise UnsupportedNode(f"values of {dtype}; int8, uint8 and int16 are supported")
    least, most, kind, offset = _KINDS[dtype]
    scale = call.number(1)
    zero_point = (int(call.number(2)) if call.has(2) else 0) - offset
    if not 0 < scale < float("inf"):
        raise UnsupportedNode(f"scale {scale}")
    if kind is torch.int16 and zero_point != 0:
        raise UnsupportedNode("16-bit values with a zero point; make them symmetric")
    return scale, zero_point, least, most, kind


@function("QuantizeLinear")
def quantize_linear(
    call: NodeCall, x: Tensor, scale: Tensor, zero_point: Tensor | None = None
) -> Tensor:
    """To int8, uint8, int16, or uint16 around its middle; one scale."""
    if call.is_constant(0):
        raise UnsupportedNode("a constant that is quantized on the device; quantize it in the file")
    dtype = torch.uint8 if zero_point is None else zero_point.dtype
    result: Tensor = QUANTIZE(x, *_arguments(call, dtype))
    return result


@function("DequantizeLinear")
def dequantize_linear(
    call: NodeCall, x: Tensor, scale: Tensor, zero_point: Tensor | None = None
) -> Tensor:
    """Like QuantizeLinear; constants also of int32, int4 and uint4, and with scales by channel."""
    dtype = x.dtype if zero_point is None else zero_point.dtype
    result: Tensor = DEQUANTIZE(x, *_arguments(call, dtype))
    return result


def quantized_constant(call: NodeCall) -> QuantizedConstant:
    """Return the constant of a DequantizeLinear.

    Raises:
      Unsupported: it has blocks of scales, or scales that do not fit it.
    """
    values, scale = call.constants[:2]
    zero_point = call.constants[2] if call.has(2) else None
    if values is None or scale is None or call.attribute("block_size", 0):
        raise UnsupportedNode("scales by block, or scales that the model computes")
    several = scale.numel() > 1
    axis = call.attribute("axis", 1)
    axis = axis + values.dim() if axis < 0 else axis
    if several and (axis >= values.dim() or scale.numel() != values.shape[axis]):
        raise UnsupportedNode(f"{scale.numel()} scales for the shape {[*values.shape]}")
    zeros = torch.zeros(scale.shape) if zero_point is None else zero_point
    if zeros.numel() != scale.numel():
        raise UnsupportedNode(f"{scale.numel()} scales and {zeros.numel()} zero points")
    zeros = zeros.to(torch.int64)
    if values.dtype is torch.uint8:
        values = (values.to(torch.int16) - UNSIGNED).to(torch.int8)
        zeros = zeros - UNSIGNED
    return QuantizedConstant(values, scale, zeros, axis if several else 0)
