# SPDX-License-Identifier: Apache-2.0
"""Which tensors share memory: what is left for the memory planner is a list of blocks.

Two levels. A *group* is a set of tensors that are pieces of the same bytes, each byte of which is
written once: aliases and their sources, and the inputs of a concatenation that are written right
into its result (then it is no kernel call any more). A *buffer* holds groups one after another: a
kernel that may work in place puts its result over its input. Concatenations and in-place calls are
taken in order, each only if it is safe and the most bytes in use at one step do not grow.

Steps count from 1. The caller writes the model's inputs at step 0 (they may be overwritten after
their last use) and reads the outputs after the last step.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from firmware.plan.graph import Alias, Graph, Step, cat_offsets
from firmware.plan.planner import Block, lower_bound

ALIGNMENT = 16
ENTRY = 0


@dataclass(frozen=True)
class Location:
    """`offset` bytes into the block of memory called `block`."""

    block: str
    offset: int


@dataclass(frozen=True, eq=False)
class Sharing:
    """Blocks of memory and where in them each tensor lies.

    Attributes:
      steps: the kernel calls that remain; step i of the plan is steps[i - 1].
      blocks: buffers, named by a tensor, and scratch memory, see `scratch_name`.
      locations: by tensor name.
      aliases: of the graph, and of concatenations that became none.
      in_place: (input, output) tensor names by step.
    """

    steps: tuple[Step, ...]
    blocks: tuple[Block, ...]
    locations: Mapping[str, Location]
    aliases: tuple[Alias, ...]
    in_place: Mapping[int, tuple[str, str]]


def scratch_name(step: int) -> str:
    """The block that is a step's scratch memory."""
    return f"scratch of step {step}"


def share_memory(graph: Graph) -> Sharing:
    """Joins concatenations, then in-place calls."""
    layout = _Layout(graph, graph.steps, graph.aliases, {})
    for step in graph.steps:
        layout = _better(layout, layout.with_concatenation(step))
    for index, step in enumerate(layout.steps, 1):
        for pair in step.kernel.in_place:
            if index not in layout.in_place:
                layout = _better(layout, layout.with_in_place(index, pair))
    return Sharing(layout.steps, layout.blocks, layout.locations, layout.aliases, layout.in_place)


def _better(layout: "_Layout", candidate: "_Layout | None") -> "_Layout":
    if candidate is None or candidate.bound > layout.bound:
        return layout
    return candidate


class _Conflict(Exception):
    """Two tensors cannot lie where they were asked to."""


class _Union:
    """Disjoint sets of byte ranges with known distances."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._parent: dict[str, tuple[str, int]] = {}

    def find(self, name: str) -> tuple[str, int]:
        """The set's representative, which contains all of it, and the offset in it."""
        offset = 0
        while name in self._parent:
            name, distance = self._parent[name]
            offset += distance
        return name, offset

    def join(self, name: str, other: str, distance: int) -> None:
        """Puts `name` at `distance` bytes after the start of `other`.

        Raises _Conflict if it lies elsewhere already or if neither set would contain the other.
        """
        root, offset = self.find(name)
        other_root, other_offset = self.find(other)
        distance += other_offset - offset
        if root == other_root:
            if distance != 0:
                raise _Conflict
        elif distance >= 0 and distance + self._sizes[root] <= self._sizes[other_root]:
            self._parent[root] = (other_root, distance)
        elif distance <= 0 and self._sizes[other_root] - distance <= self._sizes[root]:
            self._parent[other_root] = (root, -distance)
        else:
            raise _Conflict


@dataclass
class _Group:
    first: int
    last: int


class _Layout:
    """Groups and buffers that follow from a set of decisions; raises _Conflict if unsafe."""

    def __init__(
        self,
        graph: Graph,
        steps: tuple[Step, ...],
        aliases: tuple[Alias, ...],
        in_place: Mapping[int, tuple[str, str]],
    ) -> None:
        self._graph = graph
        self.steps = steps
        self.aliases = aliases
        self.in_place = in_place
        self._sizes = {name: value.bytes for name, value in graph.activations.items()}
        self._pieces = _Union(self._sizes)
        for alias in aliases:
            self._pieces.join(alias.result, alias.source, alias.offset)
        self._groups = self._find_groups()
        self._buffers = _Union(self._sizes)
        for source, result in in_place.values():
            self._join_buffers(source, result)
        self._check_buffers()
        self.locations = {name: self._locate(name) for name in self._sizes}
        self.blocks = self._find_blocks()
        self.bound = lower_bound(self.blocks, ALIGNMENT)

    def with_concatenation(self, step: Step) -> "_Layout | None":
        """This layout with the step's inputs inside of its result, None if they cannot be."""
        offsets = cat_offsets(step.op)
        inputs = step.op.tensors("inputs") if offsets is not None else ()
        if offsets is None or any(value.constant is not None for value in inputs):
            return None
        result = step.op.output().name
        added = (
            Alias(value.name, result, offset) for value, offset in zip(inputs, offsets, strict=True)
        )
        steps = tuple(other for other in self.steps if other is not step)
        return self._try(steps, (*self.aliases, *added), self.in_place)

    def with_in_place(self, index: int, pair: tuple[str, str]) -> "_Layout | None":
        """This layout with the step's result over its input, None if it cannot be."""
        step = self.steps[index - 1]
        source, result = pair
        if source not in {value.name for value in step.reads}:
            return None
        candidate = self._try(self.steps, self.aliases, {**self.in_place, index: pair})
        if candidate is None:
            return None
        for value in step.reads:
            if value.name != source and candidate._overlap(value.name, result):
                return None
        return candidate

    def _try(
        self,
        steps: tuple[Step, ...],
        aliases: tuple[Alias, ...],
        in_place: Mapping[int, tuple[str, str]],
    ) -> "_Layout | None":
        try:
            return _Layout(self._graph, steps, aliases, in_place)
        except _Conflict:
            return None

    def _find_groups(self) -> dict[str, _Group]:
        """Lifetimes by representative; checks that each byte of a group is written once."""
        program = self._graph.program
        exit_step = len(self.steps) + 1
        written: dict[str, list[tuple[int, int]]] = {}
        groups: dict[str, _Group] = {}

        def use(name: str, step: int) -> str:
            root, _ = self._pieces.find(name)
            group = groups.setdefault(root, _Group(step, step))
            group.first, group.last = min(group.first, step), max(group.last, step)
            return root

        def write(name: str, step: int) -> None:
            offset = self._pieces.find(name)[1]
            ranges = written.setdefault(use(name, step), [])
            ranges.append((offset, offset + self._sizes[name]))

        for port in program.inputs:
            write(port.value.name, ENTRY)
        for index, step in enumerate(self.steps, 1):
            for value in step.reads:
                use(value.name, index)
            for value in step.writes:
                write(value.name, index)
        for port in program.outputs:
            if port.value.name in self._sizes:
                use(port.value.name, exit_step)
        for ranges in written.values():
            ranges.sort()
            if any(end > start for (_, end), (start, _) in zip(ranges, ranges[1:], strict=False)):
                raise _Conflict
        return groups

    def _join_buffers(self, source: str, result: str) -> None:
        source_group, source_offset = self._pieces.find(source)
        result_group, result_offset = self._pieces.find(result)
        self._buffers.join(result_group, source_group, source_offset - result_offset)

    def _check_buffers(self) -> None:
        """Groups that share bytes must not be in use at once.

        A buffer's groups are a chain of in-place calls, so if the last step of one is the first of
        another, then that step's kernel may write the one over the other.
        """
        for members in self._members().values():
            for i, (name, low) in enumerate(members):
                for other, other_low in members[i + 1 :]:
                    apart = (
                        low >= other_low + self._sizes[other]
                        or other_low >= low + self._sizes[name]
                    )
                    early, late = sorted(
                        (self._groups[name], self._groups[other]), key=lambda group: group.first
                    )
                    if not apart and early.last > late.first:
                        raise _Conflict

    def _members(self) -> dict[str, list[tuple[str, int]]]:
        """Groups and their offsets by buffer."""
        members: dict[str, list[tuple[str, int]]] = {}
        for name in self._groups:
            root, offset = self._buffers.find(name)
            members.setdefault(root, []).append((name, offset))
        return members

    def _locate(self, name: str) -> Location:
        group, offset = self._pieces.find(name)
        buffer, group_offset = self._buffers.find(group)
        return Location(buffer, group_offset + offset)

    def _overlap(self, name: str, other: str) -> bool:
        a, b = self.locations[name], self.locations[other]
        return (
            a.block == b.block
            and a.offset < b.offset + self._sizes[other]
            and b.offset < a.offset + self._sizes[name]
        )

    def _find_blocks(self) -> tuple[Block, ...]:
        buffers = [
            Block(
                root,
                self._sizes[root],
                min(self._groups[name].first for name, _ in members),
                max(self._groups[name].last for name, _ in members),
            )
            for root, members in self._members().items()
        ]
        scratch = [
            Block(scratch_name(index), step.kernel.scratch, index, index)
            for index, step in enumerate(self.steps, 1)
            if step.kernel.scratch > 0
        ]
        return (*buffers, *scratch)
