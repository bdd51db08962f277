# SPDX-License-Identifier: Apache-2.0
"""Lowering of ops that move elements by constants (flip, roll, repeat, expand, index, nearest
upsampling, ...) to pl::gather.

index, index_select and gather with given or computed indices become pl::embedding. To find the
index map of an op with constants, the op itself runs on the positions of the elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import torch
from torch.fx import Node
from torch.fx.node import map_arg

from aot.dialect.graph import Edge, shape_of, tensor_constant
from aot.dialect.library import Op
from aot.dialect.rule import Call, Family, Output, Shares, UnaryRule
from aot.rules.indexed_rows import places, problem
from kernels.common.tensor import MAX_RANK
from kernels.embedding.op import embedding
from kernels.gather.op import gather
from kernels.strided_copy.op_reshape import reshape

_aten = torch.ops.aten
_CIRCULAR = _aten._pad_circular.default
_INDEX = _aten.index.Tensor
_INDEX_SELECT = _aten.index_select.default
_ROLL = _aten.roll.default
GATHERED = (
    _CIRCULAR,
    _aten.as_strided.default,
    _aten.diagonal.default,
    _aten.expand.default,
    _aten.flip.default,
    _aten.gather.default,
    _INDEX,
    _INDEX_SELECT,
    _aten.repeat.default,
    _ROLL,
    _aten.unfold.default,
    _aten.upsample_nearest2d.vec,
)
"""Ops that move elements by constants."""

_Positions = Callable[[torch.Tensor], torch.Tensor]


class Gather(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return embedding if _has_computed(node) else gather

    def reject(self, node: Node) -> tuple[str, str] | None:
        if _has_computed(node) and (found := problem(node)) is not None:
            return found
        if 0 in node.meta["val"].shape:
            return "it takes no element", "indices of at least one element"
        return None

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        (source,) = self.activations(call.node)
        if _has_computed(call.node):
            return _rows(call)

        def placed(values: torch.Tensor) -> torch.Tensor:
            """Return the index map of an op, computed on float64 indices: every op accepts this
            type.
            """

            def value(n: Node) -> torch.Tensor | None:
                return values if n is source else tensor_constant(call.module, n)

            args, kwargs = map_arg(call.node.args, value), map_arg(call.node.kwargs, value)
            result: torch.Tensor = call.node.target(*args, **kwargs)  # type: ignore[operator]
            return result.to(torch.int64)

        shape, result = shape_of(x), tuple(call.node.meta["val"].shape)
        before = (1,) * (len(result) - len(shape)) + shape
        indices = _by_dimension(placed, shape, before, result)
        if indices is None:
            before, indices = _of_parts(placed, shape, result)
        constants = [call.constant("index", i.to(torch.int32)) for i in indices.values()]
        if before != shape:
            x = call.emit(reshape, x, list(before))
        if constants:
            x = call.emit(gather, x, constants, list(indices))
        return x if shape_of(x) == result else call.emit(reshape, x, list(result))


def _has_computed(node: Node) -> bool:
    """Return True if some indices are not constant."""
    return any(n.op != "get_attr" for n in node.all_input_nodes if n is not node.args[0])


def _rows(call: Call) -> Node:
    """Lower computed indices: they read rows of a table."""
    (x,) = call.inputs
    shape = shape_of(x)
    of = places(call, shape)
    rows = of.rows
    if len(shape_of(rows)) == MAX_RANK:  # there is no room for the rows' width
        rows = call.emit(reshape, rows, [math.prod(shape_of(rows))], edge=Edge())
    taken = call.emit(embedding, of.table(call, x), rows)
    rest = [size for d, size in enumerate(shape) if d not in of.front]
    return of.from_named(call, taken, rest)


def _by_dimension(
    placed: _Positions, shape: tuple[int, ...], before: tuple[int, ...], result: tuple[int, ...]
) -> dict[int, torch.Tensor] | None:
    """Return for each dimension of the result its indices into the same input dimension.

    The input's shape has leading 1s. The result is None if the dimensions do not correspond.
    Unchanged dimensions are left out.
    """
    if len(before) != len(result):
        return None
    indices = {}
    for d, size in enumerate(before):
        along = torch.arange(size, dtype=torch.float64)
        along = along.reshape([-1 if k == d else 1 for k in range(len(before))])
        positions = placed(along.expand(before).reshape(shape).clone())
        index = positions[tuple(slice(None) if k == d else 0 for k in range(len(result)))]
        repeated = index.reshape([-1 if k == d else 1 for k in range(len(result))])
        if not torch.equal(positions, repeated.expand(result)):
            return None
        if not torch.equal(index, torch.arange(size)):
            indices[d] = index
    return indices


def _of_parts(
    placed: _Positions, shape: tuple[int, ...], result: tuple[int, ...]
) -> tuple[tuple[int, int], dict[int, torch.Tensor]]:
    """Return [parts, elements], and the index map from the result's parts to the input's.

    Leading dimensions count as parts as long as all parts have the same index map.
    """
    elements = torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape)
    positions = placed(elements).reshape(-1)
    parts = 1
    for size, kept in zip(shape, result, strict=False):
        if size != kept:
            break
        split = positions.reshape(parts * size, -1)
        starts = torch.arange(parts * size)[:, None] * (elements.numel() // (parts * size))
        if not torch.equal(split, split[:1] + starts):
            break
        parts *= size
    index = positions.reshape(parts, -1)[0]
    size = elements.numel() // parts
    return (parts, size), {} if torch.equal(index, torch.arange(size)) else {1: index}


FAMILY = Family(
    dict.fromkeys(GATHERED, Gather()),
    kept=(_CIRCULAR, _ROLL),
)
