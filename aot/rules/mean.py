# SPDX-License-Identifier: Apache-2.0
"""aten.mean to pl::mean."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.arithmetic import quantize_mean
from aot.dialect.graph import quantization_of, shape_of
from aot.dialect.library import Op
from aot.dialect.ops.mean import mean
from aot.rules.rule import HEADROOM, Call, Family, Observed, Output, UnaryRule, argument


class Mean(UnaryRule):
    output: ClassVar[Output] = Observed(HEADROOM)

    def op(self, node: Node) -> Op:
        return mean

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        rank = len(shape_of(x))
        dims, keepdim = list(range(rank)), False
        if call.node.target is torch.ops.aten.mean.dim:
            dims = sorted(d % rank for d in (argument(call.node, "dim") or range(rank)))
            keepdim = bool(argument(call.node, "keepdim"))
        count = math.prod(shape_of(x)[d] for d in dims)
        factor = quantize_mean(quantization_of(x).scale / call.output.scale, count)
        zero_points = (quantization_of(x).zero_point, call.output.zero_point)
        return call.emit(mean, x, dims, keepdim, *zero_points, *factor)


FAMILY = Family(dict.fromkeys((torch.ops.aten.mean.dim, torch.ops.aten.mean.default), Mean()))
