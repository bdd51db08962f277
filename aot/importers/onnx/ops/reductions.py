# SPDX-License-Identifier: Apache-2.0
"""Reductions over dimensions."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from aot.importers.onnx.call import NodeCall, UnsupportedNode
from aot.importers.onnx.registry import function

_Reduce = Callable[[Tensor, list[int], bool], Tensor]


def _reduction(operator: str, compute: _Reduce) -> None:
    @function(operator)
    def reduction(call: NodeCall, x: Tensor, axes: Tensor | None = None) -> Tensor:
        """Constant axes."""
        given = call.axes(1)
        if not given and call.attribute("noop_with_empty_axes", 0):
            return x
        over = given or [*range(x.dim())]
        return compute(x, over, bool(call.attribute("keepdims", 1)))


for _name, _one in {
    "ReduceL1": lambda x, axes, keeps: x.abs().sum(axes, keeps),
    "ReduceL2": lambda x, axes, keeps: (x * x).sum(axes, keeps).sqrt(),
    "ReduceLogSum": lambda x, axes, keeps: x.sum(axes, keeps).log(),
    "ReduceLogSumExp": lambda x, axes, keeps: x.logsumexp(axes, keeps),
    "ReduceMax": lambda x, axes, keeps: x.amax(axes, keeps),
    "ReduceMean": lambda x, axes, keeps: x.mean(axes, keeps),
    "ReduceMin": lambda x, axes, keeps: x.amin(axes, keeps),
    "ReduceSum": lambda x, axes, keeps: x.sum(axes, keeps),
    "ReduceSumSquare": lambda x, axes, keeps: (x * x).sum(axes, keeps),
}.items():
    _reduction(_name, _one)


@function("ReduceProd")
def product(call: NodeCall, x: Tensor, axes: Tensor | None = None) -> Tensor:
    """Constant axes."""
    keeps = bool(call.attribute("keepdims", 1))
    over = call.axes(1) or [*range(x.dim())]
    for axis in sorted((axis % x.dim() for axis in over), reverse=True):
        x = x.prod(axis, keepdim=keeps)
    return x


@function("ArgMax")
def argmax(call: NodeCall, x: Tensor) -> Tensor:
    """The first of equal values."""
    _check_first(call)
    return torch.argmax(x, call.attribute("axis", 0), bool(call.attribute("keepdims", 1)))


@function("ArgMin")
def argmin(call: NodeCall, x: Tensor) -> Tensor:
    """The first of equal values."""
    _check_first(call)
    return torch.argmin(x, call.attribute("axis", 0), bool(call.attribute("keepdims", 1)))


def _check_first(call: NodeCall) -> None:
    if call.attribute("select_last_index", 0):
        raise UnsupportedNode("select_last_index")


@function("CumSum")
def cumsum(call: NodeCall, x: Tensor, axis: Tensor) -> Tensor:
    """Constant axis, forward, inclusive."""
    if call.attribute("exclusive", 0) or call.attribute("reverse", 0):
        raise UnsupportedNode("exclusive or reverse")
    return torch.cumsum(x, int(call.number(1)))
