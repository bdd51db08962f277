# SPDX-License-Identifier: Apache-2.0
"""Finds the possible row groups of a graph, and applies a selection of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aot.plan.delegate_call import delegate_of
from aot.plan.graph import Graph, Step
from aot.plan.row_group import (
    MOST_CALLS,
    MOST_INPUTS,
    MOST_ROWS,
    Member,
    RowGroup,
    RowInput,
)
from kernels.common.kernel import Value
from kernels.common.rows import ByRows, operand, row_count


class Rows:
    """Possible row groups of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.source = {alias.result: alias for alias in graph.aliases}
        self._made = {v.name: i for i, s in enumerate(graph.steps) for v in s.writes}
        self.last: dict[str, int] = {}
        for index, step in enumerate(graph.steps):
            for value in step.reads:
                self.last[self.root(value.name)] = index
        for port in graph.program.outputs:
            self.last[self.root(port.value.name)] = len(graph.steps)
        self._capable = [
            index == 0 if step.op.outputs == (graph.streamed,) else _is_capable(step)
            for index, step in enumerate(graph.steps)
        ]
        self._groups: dict[tuple[int, int], RowGroup | None] = {}

    def root(self, name: str) -> str:
        """Return the tensor that owns a tensor's bytes."""
        while name in self.source:
            name = self.source[name].source
        return name

    def group(self, begin: int, end: int) -> RowGroup | None:
        """Return the steps from `begin` to before `end` as a row group; None if impossible."""
        if (begin, end) not in self._groups:
            self._groups[begin, end] = self._group(begin, end)
        return self._groups[begin, end]

    def _group(self, begin: int, end: int) -> RowGroup | None:
        if end - begin > MOST_CALLS or not all(self._capable[begin:end]):
            return None
        found = []
        for index in range(begin, end):
            step = self.graph.steps[index]
            inputs = self._inputs(step, begin, end)
            if inputs is None:
                return None
            (output,) = step.writes
            rows, leaves = step.kernel.rows, self.last.get(output.name, -1) >= end
            assert rows is not None
            if rows.folded is not None:
                if not leaves:
                    return None
                step = replace(step, kernel=rows.folded)
            found.append(_Found(step, rows, inputs, leaves))
        if not found[-1].leaves:
            return None
        return RowGroup(_with_rows(found))

    def _inputs(self, step: Step, begin: int, end: int) -> tuple[RowInput, ...] | None:
        rows = step.kernel.rows
        assert rows is not None
        inputs = []
        for name, taps in rows.inputs.items():
            value = operand(step.kernel.data, name)
            assert isinstance(value, Value)
            root = self.root(value.name)
            made = self._made.get(root, -1)
            inside = begin <= made < end
            if inside and row_count(self.graph.steps[made].writes[0].shape) != taps.rows:
                return None
            if inside and self.graph.activations[root].bytes != value.bytes:
                return None
            inputs.append(RowInput(name, value, taps, made - begin if inside else None))
        by_rows = {source.value.name for source in inputs}
        for value in step.reads:
            made = self._made.get(self.root(value.name), -1)
            if value.name not in by_rows and begin <= made < end:
                return None
        return tuple(inputs)


def _is_capable(step: Step) -> bool:
    rows = step.kernel.rows
    if rows is None or len(step.writes) != 1 or delegate_of(step.op) is not None:
        return False
    values = [operand(step.kernel.data, name) for name in rows.inputs]
    return (
        (rows.folded is not None or row_count(step.writes[0].shape) == rows.rows)
        and rows.rows <= MOST_ROWS
        and len(values) <= MOST_INPUTS
        and all(
            isinstance(value, Value)
            and value.constant is None
            and row_count(value.shape) == taps.rows
            and max(taps.rows, taps.stride, taps.pad, taps.reach) <= MOST_ROWS
            for value, taps in zip(values, rows.inputs.values(), strict=True)
        )
    )


@dataclass(frozen=True, eq=False)
class _Found:
    """A member before the number of its rows is computed."""

    step: Step
    rows: ByRows
    inputs: tuple[RowInput, ...]
    leaves: bool


def _with_rows(found: Sequence[_Found]) -> tuple[Member, ...]:
    """Return the members with only those rows that have a reader."""
    needed = [0] * len(found)
    members: list[Member] = []
    for index in reversed(range(len(found))):
        member = found[index]
        made = member.rows.rows if member.leaves else needed[index]
        for source in member.inputs:
            if source.producer is not None:
                needed[source.producer] = max(needed[source.producer], source.taps.end(made - 1))
        members.append(Member(member.step, member.rows, member.inputs, member.leaves, made))
    return tuple(reversed(members))


def with_groups(graph: Graph, groups: Mapping[int, RowGroup]) -> Graph:
    """Return the graph with these row groups, given by the index of their first step."""
    steps: list[Step] = []
    index = 0
    while index < len(graph.steps):
        group = groups.get(index)
        steps.append(graph.steps[index] if group is None else group.step)
        index += 1 if group is None else len(group.members)
    return replace(graph, steps=tuple(steps))
