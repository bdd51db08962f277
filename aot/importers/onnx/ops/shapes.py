# SPDX-License-Identifier: Apache-2.0
"""Operators of shape arithmetic. Their results are constants."""

from __future__ import annotations

import torch
from torch import Tensor

from aot.importers.onnx.call import NodeCall, UnsupportedNode
from aot.importers.onnx.file import MOST_ELEMENTS, check_shape
from aot.importers.onnx.registry import function


@function("Shape")
def shape(call: NodeCall, x: Tensor) -> Tensor:
    """A constant."""
    sizes = [*x.shape][call.attribute("start", 0) : call.optional("end")]
    return torch.tensor(sizes, dtype=torch.int64)


@function("Size")
def size(call: NodeCall, x: Tensor) -> Tensor:
    """A constant."""
    return torch.tensor(x.numel(), dtype=torch.int64)


@function("Range")
def range_(call: NodeCall, *unused: Tensor) -> Tensor:
    """Constant bounds."""
    start, limit, delta = (call.number(i) for i in range(3))
    kind = call.constants[0]
    assert kind is not None
    if delta == 0 or abs(limit - start) > abs(delta) * MOST_ELEMENTS:
        raise UnsupportedNode(f"from {start} to {limit} by {delta}")
    if (limit - start) / delta <= 0:
        return torch.zeros(0, dtype=kind.dtype)
    return torch.arange(start, limit, delta).to(kind.dtype)


@function("OneHot")
def one_hot(call: NodeCall, indices: Tensor, depth: Tensor, values: Tensor) -> Tensor:
    """Constant depth."""
    classes = int(call.number(1))
    axis = call.attribute("axis", -1) % (indices.dim() + 1)
    check_shape("OneHot", [*indices.shape, classes])
    steps = torch.arange(classes).reshape(
        [-1 if d == axis else 1 for d in range(indices.dim() + 1)]
    )
    chosen = (indices.unsqueeze(axis) % classes) == steps
    return torch.where(chosen, values[1], values[0])


@function("NonZero")
def non_zero(call: NodeCall, x: Tensor) -> Tensor:
    """Constants only."""
    if not call.is_constant(0):
        raise UnsupportedNode("the shape of its result depends on values")
    return torch.nonzero(x).t()
