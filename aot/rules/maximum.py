# SPDX-License-Identifier: Apache-2.0
"""aten.max over a dimension, its values and its indices, and aten.argmax to pl::max_with_indices.

Each result emits the call; the layout passes make one of two that are the same. Indices are int32
where torch has int64.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import Edge, edge_of, shape_of
from aot.dialect.library import Op
from aot.dialect.ops.max_with_indices import max_with_indices
from aot.dialect.ops.reshape import reshape
from aot.dialect.results import taken_from
from aot.rules.rule import Call, Family, Integers, Output, Shares, UnaryRule, argument


class _Maximum(UnaryRule):
    index: ClassVar[int]

    def op(self, node: Node) -> Op:
        return max_with_indices

    def emit(self, call: Call) -> Node:
        (x,), (node, _) = call.inputs, taken_from(call.node)
        dim, keepdim = argument(node, "dim"), bool(argument(node, "keepdim"))
        if dim is None or not shape_of(x):
            x = call.emit(reshape, x, [math.prod(shape_of(x))], edge=Edge(edge_of(x).quantization))
            dim = 0
        dim = int(dim) % len(shape_of(x))
        result = call.result(call.emit(max_with_indices, x, dim, keepdim, edge=Edge()), self.index)
        shape = list(call.node.meta["val"].shape)
        if list(shape_of(result)) == shape:
            return result
        return call.emit(reshape, result, shape, edge=edge_of(result))


class MaximumValues(_Maximum):
    output: ClassVar[Output] = Shares()
    index = 0


class MaximumIndices(_Maximum):
    output: ClassVar[Output] = Integers()
    index = 1


FAMILY = Family(
    {torch.ops.aten.argmax.default: MaximumIndices()},
    results={torch.ops.aten.max.dim: (MaximumValues(), MaximumIndices())},
)
