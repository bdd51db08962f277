# SPDX-License-Identifier: Apache-2.0
"""Lowering of aten.index_put, scatter and scatter_add with given or computed indices.

pl::scatter replaces values, and pl::scatter_sum adds them to zeros. A sum added to a tensor is that
sum and an add (aot/passes/aten/decompositions/rare_ops.py). An assignment by constants is a
gather (aot/passes/aten/movement/assignments_to_gather.py).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from torch.fx import Node

from aot.dialect.arithmetic import sums_multiplier
from aot.dialect.graph import Edge, edge_of, quantization_of, shape_of
from aot.dialect.library import Op
from aot.dialect.rule import Call, Family, Observed, Output, Shares, argument
from aot.rules.indexed_rows import BY_ELEMENT, places, problem
from kernels.scatter.op import scatter, scatter_sum, scatter_sum_float
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_slice import slice as slice_

_aten = torch.ops.aten
ADDS_ROWS = _aten._unsafe_index_put.default
"""Replacement of an accumulating index_put: the same op with the same arguments under
its own name.
"""

_VALUES = {_aten.index_put.default: "values", _aten.scatter.src: "src"}


class _Scatter:
    fuses_clamp: ClassVar[bool] = False

    def weights(self, node: Node) -> Node | None:
        return None

    def reject(self, node: Node) -> tuple[str, str] | None:
        if 0 in node.meta["val"].shape:
            return "it writes to nothing", "a tensor of at least one element"
        return problem(node)


class Replaced(_Scatter):
    output: ClassVar[Output] = Shares()

    def reject(self, node: Node) -> tuple[str, str] | None:
        if node.target is _aten.index_put.default and argument(node, "accumulate"):
            return "it adds to what is no float32, or under a mask", "a sum of float32"
        return super().reject(node)

    def activations(self, node: Node) -> list[Node]:
        target: Any = node.target
        return [argument(node, "self"), argument(node, _VALUES[target])]

    def op(self, node: Node) -> Op:
        return scatter

    def emit(self, call: Call) -> Node:
        base, values = call.inputs
        shape = tuple(shape_of(base))
        to = places(call, shape)
        values = to.named(call, _written(call, values))
        rows = call.emit(reshape, to.rows, [shape_of(values)[0]], edge=Edge())
        written = call.emit(scatter, to.table(call, base), rows, values)
        return to.from_table(call, written, shape)


class Added(_Scatter):
    """Rule for sums onto a base of zeros. The base is not read."""

    output: ClassVar[Output] = Observed()

    def reject(self, node: Node) -> tuple[str, str] | None:
        if not node.meta["val"].is_floating_point():
            return "it adds integers", "a sum of float32"
        return super().reject(node)

    def activations(self, node: Node) -> list[Node]:
        name = "values" if node.target is ADDS_ROWS else "src"
        return [argument(node, name)]

    def op(self, node: Node) -> Op:
        return scatter_sum

    def emit(self, call: Call) -> Node:
        (values,) = call.inputs
        shape = tuple(call.node.meta["val"].shape)
        to = places(call, shape)
        values = to.named(call, _written(call, values))
        rows = call.emit(reshape, to.rows, [shape_of(values)[0]], edge=Edge())
        count = math.prod(shape) // shape_of(values)[1]
        if call.quantization is None:
            sums = call.emit(scatter_sum_float, values, rows, count)
            return to.from_table(call, sums, shape)
        of = quantization_of(values)
        factor = sums_multiplier(of.scale / call.output.scale, of.type.dtype)
        points = of.zero_point, call.output.zero_point
        sums = call.emit(scatter_sum, values, rows, count, *points, *factor)
        return to.from_table(call, sums, shape)


def _written(call: Call, values: Node) -> Node:
    """Return the written part of the values. An index by element may cover only the
    first of them.
    """
    if call.node.target in BY_ELEMENT:
        indexed = argument(call.node, "index").meta["val"].shape
        for dim, (size, given) in enumerate(zip(indexed, shape_of(values), strict=True)):
            if size < given:
                edge = edge_of(values)
                values = call.emit(slice_, values, dim, 0, size, 1, edge=edge)
    return values


FAMILY = Family(
    {
        **dict.fromkeys(_VALUES, Replaced()),
        ADDS_ROWS: Added(),
        _aten.scatter_add.default: Added(),
    }
)
