# SPDX-License-Identifier: Apache-2.0
"""Lowering of aten.mean and sum to pl::mean. A sum is a mean whose factor leaves the count out."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.arithmetic import quantize_mean
from aot.dialect.graph import quantization_of, shape_of
from aot.dialect.library import Op
from aot.dialect.results import taken_from
from aot.dialect.rule import HEADROOM, Call, Family, Observed, Output, UnaryRule, reduction
from kernels.mean.op import mean

_aten = torch.ops.aten
_MEAN = (_aten.mean.dim, _aten.mean.default)
_SUM = (_aten.sum.dim_IntList, _aten.sum.default)


class Mean(UnaryRule):
    output: ClassVar[Output] = Observed(HEADROOM)

    def op(self, node: Node) -> Op:
        return mean

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        dims, keepdim = reduction(taken_from(call.node)[0], len(shape_of(x)))
        count = math.prod(shape_of(x)[d] for d in dims)
        return sum_over(call, x, dims, keepdim, 1 if call.node.target in _SUM else count)


def sum_over(call: Call, x: Node, dims: list[int], keepdim: bool, count: int) -> Node:
    """Return the sum of x over dimensions, divided by count, rounded once."""
    factor = quantize_mean(quantization_of(x).scale / call.output.scale, count)
    zero_points = (quantization_of(x).zero_point, call.output.zero_point)
    return call.emit(mean, x, dims, keepdim, *zero_points, *factor)


FAMILY = Family(dict.fromkeys((*_MEAN, *_SUM), Mean()))
