# SPDX-License-Identifier: Apache-2.0
"""slice(cat([cat([a, b], 1), cat([c, d], 1)], 2), 1) -> cat([a, c], 2), if slices take whole parts
of the concatenation.

Matches the heads of detectors: boxes and classes of every level are joined, then the levels, and
then boxes are sliced from classes. Reshapes and transposes may be between. Leaves slices copying
nothing, slices within parts, and values with other readers of the whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, arguments, calls, drop_dead_code, edge_of, shape_of
from aot.passes.rewrite.state_copies import is_piece
from kernels.cat.op import cat
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_transpose import transpose


@dataclass(frozen=True)
class _Cut:
    """Range of a value that a slice takes.

    Attributes:
      value: the sliced value.
      dim: the sliced dimension.
      start: the first element.
      end: the one after the last.
    """

    value: Node
    dim: int
    start: int
    end: int

    @property
    def is_whole(self) -> bool:
        return (self.start, self.end) == (0, shape_of(self.value)[self.dim])

    @property
    def before(self) -> list[_Cut] | None:
        """Return the ranges of the value's inputs; None if the value is no data movement."""
        if calls(self.value, "cat"):
            return self._of_parts()
        dim = None
        if calls(self.value, "transpose"):
            dim = arguments(self.value)["perm"][self.dim]
        elif calls(self.value, "reshape"):
            dim = _same_dim(self.value, self.dim)
        if dim is None:
            return None
        return [_Cut(arguments(self.value)["input"], dim, self.start, self.end)]

    def _of_parts(self) -> list[_Cut]:
        cuts: list[_Cut] = []
        first = 0
        for part in arguments(self.value)["inputs"]:
            size = shape_of(part)[self.dim]
            if arguments(self.value)["dim"] != self.dim:
                cuts.append(_Cut(part, self.dim, self.start, self.end))
                continue
            start, end = max(self.start - first, 0), min(self.end - first, size)
            if start < end:
                cuts.append(_Cut(part, self.dim, start, end))
            first += size
        return cuts


def slices_before_cats(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many slices are gone."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        cuts = {user: _cut(user) for user in node.users if calls(user, "slice")}
        if not cuts or len(cuts) != len(node.users) or all(map(is_piece, cuts)):
            continue
        found = {user: cut for user, cut in cuts.items() if cut is not None and _is_joined(cut)}
        if len(found) != len(cuts):
            continue
        for user, cut in found.items():
            with module.graph.inserting_before(user):
                user.replace_all_uses_with(_joined(builder, cut))
        drop_dead_code(module.graph)
        count += len(found)
    if count:
        module.recompile()
    return count


def _cut(node: Node) -> _Cut | None:
    values = arguments(node)
    if values["step"] != 1:
        return None
    return _Cut(values["input"], values["dim"], values["start"], values["end"])


def _is_joined(cut: _Cut) -> bool:
    """Return True if a range consists of whole values only."""
    return cut.is_whole or (cut.before is not None and all(map(_is_joined, cut.before)))


def _joined(builder: Builder, cut: _Cut) -> Node:
    """Return the elements of a range, from whole values."""
    value, cuts = cut.value, cut.before
    if cut.is_whole or cuts is None:
        return value
    parts = [_joined(builder, part) for part in cuts]
    edge, origin = edge_of(value), value.meta["origin"]
    if calls(value, "transpose"):
        return builder.call(transpose, parts[0], arguments(value)["perm"], edge=edge, origin=origin)
    if calls(value, "reshape"):
        shape = list(shape_of(value))
        shape[cut.dim] = cut.end - cut.start
        return builder.call(reshape, parts[0], shape, edge=edge, origin=origin)
    if len(parts) == 1:
        return parts[0]
    return builder.call(cat, parts, arguments(value)["dim"], edge=edge, origin=origin)


def _same_dim(node: Node, dim: int) -> int | None:
    """Return the dimension of a reshape's source for one of its own; None if there is none."""
    before, after = shape_of(arguments(node)["input"]), shape_of(node)
    behind = math.prod(after[dim + 1 :])
    same = (d for d, size in enumerate(before) if size == after[dim])
    return next((d for d in same if math.prod(before[d + 1 :]) == behind), None)
