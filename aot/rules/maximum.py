# SPDX-License-Identifier: Apache-2.0
"""aten.max over a dimension, its values and its indices, and aten.argmax to pl::max_with_indices;
aten.min, argmin and topk to pl::topk.

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
from aot.dialect.ops.topk import topk
from aot.dialect.results import taken_from
from aot.rules.rule import Call, Family, Integers, Output, Shares, UnaryRule, argument

_aten = torch.ops.aten
_MAX, _ARGMAX = _aten.max.dim, _aten.argmax.default
_MIN, _ARGMIN = _aten.min.dim, _aten.argmin.default
_TOPK = _aten.topk.default


class _Best(UnaryRule):
    index: ClassVar[int]

    def op(self, node: Node) -> Op:
        return max_with_indices if taken_from(node)[0].target in (_MAX, _ARGMAX) else topk

    def reject(self, node: Node) -> tuple[str, str] | None:
        if 0 in node.meta["val"].shape:
            return "it takes none of the values", "at least one"
        return None

    def emit(self, call: Call) -> Node:
        (x,), (node, _) = call.inputs, taken_from(call.node)
        dim = argument(node, "dim")
        if dim is None or not shape_of(x):
            x = call.emit(reshape, x, [math.prod(shape_of(x))], edge=Edge(edge_of(x).quantization))
            dim = 0
        dim = int(dim) % len(shape_of(x))
        result = call.result(self._results(call, node, x, dim), self.index)
        shape = list(call.node.meta["val"].shape)
        if list(shape_of(result)) == shape:
            return result
        return call.emit(reshape, result, shape, edge=edge_of(result))

    def _results(self, call: Call, node: Node, x: Node, dim: int) -> Node:
        if self.op(node) is max_with_indices:
            keepdim = bool(argument(node, "keepdim"))
            return call.emit(max_with_indices, x, dim, keepdim, edge=Edge())
        count, largest = 1, False
        if node.target is _TOPK:
            count, largest = int(argument(node, "k")), bool(argument(node, "largest"))
        return call.emit(topk, x, count, dim, largest, edge=Edge())


class BestValues(_Best):
    output: ClassVar[Output] = Shares()
    index = 0


class BestIndices(_Best):
    output: ClassVar[Output] = Integers()
    index = 1


FAMILY = Family(
    dict.fromkeys((_ARGMAX, _ARGMIN), BestIndices()),
    results=dict.fromkeys((_MAX, _MIN, _TOPK), (BestValues(), BestIndices())),
)
