# SPDX-License-Identifier: Apache-2.0
"""Memory sharing between tensors. The result is a list of blocks for the memory planner.

Concatenations join groups and in-place calls join buffers (see layout.py). They are processed in
order. Each is accepted only if it is safe and does not increase the peak of bytes in use. The cost
of a decision depends on its changes only, so a network of many hundred steps is planned quickly.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aot.plan.graph import Alias, Graph, Step, cat_offsets
from aot.plan.layout import (
    ALIGNMENT,
    ENTRY,
    AliasGroup,
    Conflict,
    Layout,
    Location,
    Union,
    check_written_once,
)
from aot.plan.planner import MemoryBlock, align_up


@dataclass(frozen=True, eq=False)
class Sharing:
    """Blocks of memory, and each tensor's place in them.

    Attributes:
      steps: the remaining kernel calls; step i of the plan is steps[i - 1].
      blocks: buffers, with the name of a tensor, and scratch memory, see `scratch_name`.
      locations: by tensor name.
      aliases: of the graph, and of removed concatenations.
      in_place: (input, output) tensor names by step.
    """

    steps: tuple[Step, ...]
    blocks: tuple[MemoryBlock, ...]
    locations: Mapping[str, Location]
    aliases: tuple[Alias, ...]
    in_place: Mapping[int, tuple[str, str]]


def share_memory(graph: Graph) -> Sharing:
    """Join concatenations, then in-place calls."""
    pieces = _Pieces(graph)
    kept = [step for index, step in enumerate(graph.steps, 1) if not pieces.join(index, step)]
    buffers = _Buffers(pieces)
    in_place: dict[int, tuple[str, str]] = {}
    for index, step in enumerate(kept, 1):
        for pair in step.kernel.in_place:
            if buffers.overwrite(step, *pair):
                in_place[index] = pair
                break
    layout = Layout(graph, tuple(kept), (*graph.aliases, *pieces.aliases), in_place)
    return Sharing(layout.steps, layout.blocks, layout.locations, layout.aliases, in_place)


_Use = tuple[int, AliasGroup]
"""Bytes, and when they are in use."""


class _Timeline:
    """Bytes in use at every step, and their limit."""

    def __init__(self, steps: int, uses: Iterable[_Use]) -> None:
        self._live = np.zeros(steps + 2, np.int64)
        self._change(uses, 1)
        self._bound = int(self._live.max())

    def replace(self, old: Sequence[_Use], new: Sequence[_Use]) -> bool:
        """Replace blocks unless the peak would rise. Return False if nothing was changed."""
        self._change(old, -1)
        self._change(new, 1)
        bound = int(self._live.max())
        if bound > self._bound:
            self._change(new, -1)
            self._change(old, 1)
            return False
        self._bound = bound
        return True

    def _change(self, uses: Iterable[_Use], sign: int) -> None:
        for size, when in uses:
            self._live[when.first : when.last + 1] += sign * align_up(size, ALIGNMENT)


class _Pieces:
    """Groups while concatenations are joined. Step numbers are those of the graph."""

    def __init__(self, graph: Graph) -> None:
        self.sizes = {name: value.bytes for name, value in graph.activations.items()}
        self.union = Union(self.sizes, graph.alignments)
        for alias in graph.aliases:
            self.union.join(alias.result, alias.source, alias.offset)
        self.aliases: list[Alias] = []
        self._reads: dict[str, set[int]] = {name: set() for name in self.sizes}
        self._writes: dict[str, set[int]] = {name: set() for name in self.sizes}
        self._steps = graph.steps
        for value in graph.inputs:
            self._writes[value.name].add(ENTRY)
        for index, step in enumerate(graph.steps, 1):
            self._add(index, step)
        for port in graph.program.outputs:
            if port.value.name in self.sizes:
                self._reads[port.value.name].add(len(graph.steps) + 1)
        self._states = {state.new.name: state.value.name for state in graph.program.states}
        self._members: dict[str, list[str]] = {}
        for name in self.sizes:
            self._members.setdefault(self.union.find(name)[0], []).append(name)
        lifetimes = {root: self._lifetime(names) for root, names in self._members.items()}
        self.lifetimes = {root: group for root, group in lifetimes.items() if group is not None}
        scratch = [(s.kernel.scratch, AliasGroup(i, i)) for i, s in enumerate(graph.steps, 1)]
        self.timeline = _Timeline(len(graph.steps), [*self._uses(self.lifetimes), *scratch])

    def join(self, index: int, step: Step) -> bool:
        """Place a concatenation's inputs in its result, if this costs no memory.

        The step is then removed.
        """
        offsets = cat_offsets(step.op)
        inputs = step.op.tensors("inputs") if offsets is not None else ()
        if offsets is None or any(value.constant is not None for value in inputs):
            return False
        result = step.op.output().name
        if not self._may_join(result, [value.name for value in inputs]):
            return False
        aliases = [Alias(v.name, result, o) for v, o in zip(inputs, offsets, strict=True)]
        roots = {self.union.find(name)[0] for name in (result, *(v.name for v in inputs))}
        before = len(self.union)
        self._remove(index, step)
        try:
            for alias in aliases:
                self.union.join(alias.result, alias.source, alias.offset)
            self._merge(roots, self.union.find(result)[0], (step.kernel.scratch, index))
        except Conflict:
            self.union.undo(before)
            self._add(index, step)
            return False
        self.aliases += aliases
        return True

    def _may_join(self, result: str, inputs: Sequence[str]) -> bool:
        """Return True if state permits a concatenation's tensors to be one group.

        State may be in a group with its new value only, and no input may be the new value. Each
        step reading the state must come before those writing the new value, or may overwrite its
        own input.
        """
        kept = {self.union.find(state)[0] for state in self._states.values()}
        roots = {self.union.find(name) for name in inputs}
        if result not in self._states:
            return not kept & {root for root, _ in (*roots, self.union.find(result))}
        ((root, offset),) = roots
        if root in kept or offset != 0 or self.sizes[root] != self.sizes[result]:
            return False
        state = self.union.find(result)[0]
        first = min(step for name in self._members[root] for step in self._writes[name])
        if first == ENTRY:
            return False
        late = [(s, n) for n in self._members[state] for s in self._reads[n] if s >= first]
        if not late:
            return True
        ((step, reader), *others) = late
        if others or step != first or self.sizes[reader] != self.sizes[state]:
            return False
        pairs = self._steps[step - 1].kernel.in_place
        return any((reader, name) in pairs for name in self._members[root])

    def _merge(self, roots: set[str], merged: str, scratch: tuple[int, int]) -> None:
        """Merge groups. Raise Conflict, with nothing changed, if this is not allowed."""
        names = [name for root in roots for name in self._members[root]]
        check_written_once(
            (offset, offset + self.sizes[name])
            for name in names
            for offset in [self.union.find(name)[1]]
            for _ in self._writes[name]
        )
        old = {root: self.lifetimes[root] for root in roots if root in self.lifetimes}
        lifetime = self._lifetime(names)
        new = {} if lifetime is None else {merged: lifetime}
        freed = [*self._uses(old), (scratch[0], AliasGroup(scratch[1], scratch[1]))]
        if not self.timeline.replace(freed, self._uses(new)):
            raise Conflict
        for root in roots:
            del self._members[root]
            self.lifetimes.pop(root, None)
        self._members[merged] = names
        self.lifetimes |= new

    def _uses(self, groups: Mapping[str, AliasGroup]) -> list[_Use]:
        return [(self.sizes[root], group) for root, group in groups.items()]

    def _lifetime(self, names: Iterable[str]) -> AliasGroup | None:
        names = list(names)
        if not self._states.keys().isdisjoint(names):
            return AliasGroup(ENTRY, len(self._steps) + 1)
        steps = [s for n in names for uses in (self._reads[n], self._writes[n]) for s in uses]
        return AliasGroup(min(steps), max(steps)) if steps else None

    def _add(self, index: int, step: Step) -> None:
        for value in step.reads:
            self._reads[value.name].add(index)
        for value in step.writes:
            self._writes[value.name].add(index)

    def _remove(self, index: int, step: Step) -> None:
        for value in step.reads:
            self._reads[value.name].discard(index)
        for value in step.writes:
            self._writes[value.name].discard(index)


class _Buffers:
    """Buffers while in-place calls are joined. Groups do not change."""

    def __init__(self, pieces: _Pieces) -> None:
        self._pieces = pieces
        self._sizes = pieces.sizes
        alignments = {root: pieces.union.alignment(root) for root in pieces.lifetimes}
        self._union = Union(pieces.sizes, alignments)
        self._groups = {root: [(root, 0)] for root in pieces.lifetimes}
        self._lifetimes = dict(pieces.lifetimes)

    def overwrite(self, step: Step, source: str, result: str) -> bool:
        """Place the step's result over its input, if this costs no memory."""
        if source not in {value.name for value in step.reads}:
            return False
        group, offset = self._pieces.union.find(source)
        result_group, result_offset = self._pieces.union.find(result)
        buffers = {self._union.find(group)[0], self._union.find(result_group)[0]}
        before = len(self._union)
        try:
            self._union.join(result_group, group, offset - result_offset)
            self._merge(buffers, self._union.find(group)[0], step, source, result)
        except Conflict:
            self._union.undo(before)
            return False
        return True

    def _merge(self, buffers: set[str], merged: str, step: Step, source: str, result: str) -> None:
        """Merge buffers. Raise Conflict, with nothing changed, if this is not allowed."""
        if any(v.name != source and self._meet(v.name, result) for v in step.reads):
            raise Conflict
        for inner in buffers - {merged}:
            shift = self._union.find(inner)[1]
            moved = [(name, offset + shift) for name, offset in self._groups[inner]]
            if any(self._clash(a, b) for a in self._groups[merged] for b in moved):
                raise Conflict
            old = [self._lifetimes[merged], self._lifetimes[inner]]
            new = AliasGroup(min(group.first for group in old), max(group.last for group in old))
            sizes = self._sizes[merged], self._sizes[inner]
            if not self._pieces.timeline.replace(
                list(zip(sizes, old, strict=True)), [(self._sizes[merged], new)]
            ):
                raise Conflict
            self._groups[merged] += moved
            self._lifetimes[merged] = new

    def _clash(self, a: tuple[str, int], b: tuple[str, int]) -> bool:
        """Return True if groups at these offsets share bytes although they must not."""
        (name, low), (other, other_low) = a, b
        lifetimes = self._pieces.lifetimes
        return (
            low < other_low + self._sizes[other]
            and other_low < low + self._sizes[name]
            and lifetimes[name].clashes(lifetimes[other])
        )

    def _meet(self, name: str, other: str) -> bool:
        """Return True if two tensors have a byte in common."""
        (buffer, low), (other_buffer, other_low) = self._place(name), self._place(other)
        return (
            buffer == other_buffer
            and low < other_low + self._sizes[other]
            and other_low < low + self._sizes[name]
        )

    def _place(self, name: str) -> tuple[str, int]:
        group, offset = self._pieces.union.find(name)
        buffer, group_offset = self._union.find(group)
        return buffer, group_offset + offset
