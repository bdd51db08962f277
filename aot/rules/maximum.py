# SPDX-License-Identifier: Apache-2.0
"""Lowering of aten.max over a dimension (values and indices) and aten.argmax to
pl::max_with_indices; aten.min, argmin and topk to pl::topk.

Each result emits the call. The layout passes merge two equal calls. Indices are int32 where torch
has int64.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import Edge, edge_of, shape_of
from aot.dialect.library import Op
from aot.dialect.results import taken_from
from aot.dialect.rule import Call, Family, Integers, Output, Shares, UnaryRule, argument, reduction
from kernels.max_with_indices.op import max_with_indices
from kernels.max_with_indices.op_topk import topk
from kernels.strided_copy.op_reshape import reshape

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
        (x,) = call.inputs
        return best(call, x, self.op(call.node), self.index)


def best(call: Call, x: Node, op: Op, index: int) -> Node:
    """Return maxima or minima along a dimension, or of all elements, or their indices.

    Args:
      call: of such an op, or of one of its results.
      x: the values.
      op: max_with_indices or topk.
      index: of the result.
    """
    node, _ = taken_from(call.node)
    shape, (dims, keepdim) = shape_of(x), reduction(node, len(shape_of(x)))
    if len(dims) != 1 or not shape:
        x, dims = call.emit(reshape, x, [math.prod(shape)], edge=Edge(edge_of(x).quantization)), [0]
    if op is max_with_indices:
        results = call.emit(op, x, dims[0], keepdim, edge=Edge())
    else:
        is_topk = node.target is _TOPK
        count = int(argument(node, "k")) if is_topk else 1
        largest = bool(argument(node, "largest")) if is_topk else "max" in str(node.target)
        results = call.emit(op, x, count, dims[0], largest, edge=Edge())
    result, expected = call.result(results, index), list(call.node.meta["val"].shape)
    if list(shape_of(result)) == expected:
        return result
    return call.emit(reshape, result, expected, edge=edge_of(result))


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
