# SPDX-License-Identifier: Apache-2.0
"""The same value with another quantization."""

from __future__ import annotations

from torch.fx import Node

from aot.dialect.graph import Builder, Edge, Origin, quantization_of
from aot.dialect.quantization import INT16, Quantization
from kernels.lut.op import lut, table_of
from kernels.quantize.op_requantize import requantize, requantize_arguments


def converted(
    builder: Builder, value: Node, quantization: Quantization, origin: Origin, name: str
) -> Node:
    """Return a node of the dialect; the value itself if no conversion is needed.

    Args:
      builder: makes it.
      value: is quantized.
      quantization: of the result.
      origin: metadata for the node.
      name: prefix of its constants' names.
    """
    given = quantization_of(value)
    if given == quantization:
        return value
    edge = Edge(quantization)
    if INT16 in (given.type, quantization.type):
        args = requantize_arguments(given, quantization)
        return builder.call(requantize, value, *args, edge=edge, origin=origin)
    table = builder.constant(f"{name}_table", table_of(lambda x: x, given, quantization))
    return builder.call(lut, value, table, edge=edge, origin=origin)
