# SPDX-License-Identifier: Apache-2.0
"""Meaning of the quantize and dequantize ops in torchao's converted graphs, and marks of float
nodes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

import aot.upstream.torchao  # noqa: F401 (registers torch.ops.quantized_decomposed)
from aot.dialect.graph import tensor_constant
from aot.dialect.quantization import (
    ACTIVATION_TYPES,
    WEIGHT_TYPES,
    ChannelQuantization,
    Quantization,
)

QUANTIZE = torch.ops.quantized_decomposed.quantize_per_tensor.default
DEQUANTIZE = torch.ops.quantized_decomposed.dequantize_per_tensor.default

UNCORRECTED = "uncorrected"
"""Key in the meta of a corrected bias: its value before the correction."""

_STAYS_FLOAT = "stays_float"


def keep_float(node: Node) -> None:
    """Mark an ATen node with an int8 form that must stay float."""
    node.meta[_STAYS_FLOAT] = True


def stays_float(node: Node) -> bool:
    return _STAYS_FLOAT in node.meta


def activation_quantization(node: Node) -> Quantization:
    """Return the quantization of a quantize or dequantize node's value."""
    arguments: Any = node.args
    _, scale, zero_point, quant_min, quant_max, dtype = arguments
    kind = ACTIVATION_TYPES[dtype]
    assert (quant_min, quant_max) == (kind.quant_min, kind.quant_max), node
    return Quantization(float(scale), int(zero_point), kind)


def quantized_weight(module: GraphModule, node: Node) -> tuple[torch.Tensor, ChannelQuantization]:
    """Return the integers of a dequantize node over constants, and their quantization."""
    arguments: Any = node.args
    values, scales = tensor_constant(module, arguments[0]), tensor_constant(module, arguments[1])
    kind = WEIGHT_TYPES[arguments[-2]]
    assert values is not None and scales is not None and values.dtype == kind.dtype
    return values, ChannelQuantization(scales.to(torch.float64), arguments[3], kind)
