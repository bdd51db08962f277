# SPDX-License-Identifier: Apache-2.0
"""Memory blocks for a set of sharing decisions, and each tensor's place in them.

There are two levels. A *group* is a set of tensors within the same bytes; each byte is written
once. It holds aliases and their sources, and inputs of a concatenation written directly into its
result (it is then no kernel call any more). A *buffer* holds groups one after another: an in-place
kernel puts its result over its input. If a kernel allows a result to alias its input partly, their
buffers record it, and the planner decides.

A state and its new value are one group, in use from run to run.

Steps count from 1. The caller writes the model's inputs at step 0 (they may be overwritten after
their last use) and reads the outputs after the last step.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from aot.plan.graph import Alias, Graph, Step
from aot.plan.planner import MemoryBlock, Over

ALIGNMENT = 16
ENTRY = 0


@dataclass(frozen=True)
class Location:
    """A place `offset` bytes into the memory block named `block`."""

    block: str
    offset: int


def scratch_name(step: int) -> str:
    """Return the name of a step's scratch block."""
    return f"scratch of step {step}"


class Conflict(Exception):
    """Two tensors cannot share memory as requested."""


class Union:
    """Disjoint sets of byte ranges with known distances, which can be joined.

    A range with an alignment lies at a multiple of it from the start of its set. The set's own
    alignment is the largest of its ranges'.
    """

    def __init__(self, sizes: Mapping[str, int], alignments: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._alignments = dict(alignments)
        self._parent: dict[str, tuple[str, int, int]] = {}  # with its alignment before the join

    def __len__(self) -> int:
        """Return the number of joins."""
        return len(self._parent)

    def undo(self, length: int) -> None:
        """Undo the latest joins until only this many are left."""
        while len(self._parent) > length:
            _, (parent, _, alignment) = self._parent.popitem()
            self._alignments[parent] = alignment

    def alignment(self, name: str) -> int:
        """Return the alignment of the set that contains a range."""
        return self._alignments.get(self.find(name)[0], 1)

    def find(self, name: str) -> tuple[str, int]:
        """Return the representative of a range's set, and the offset in it.

        It contains the whole set.
        """
        offset = 0
        while name in self._parent:
            name, distance, _ = self._parent[name]
            offset += distance
        return name, offset

    def join(self, name: str, other: str, distance: int) -> None:
        """Put `name` at `distance` bytes after the start of `other`.

        Raise Conflict if it lies elsewhere already, if neither set would contain the other, or if
        it would not be aligned.
        """
        root, offset = self.find(name)
        other_root, other_offset = self.find(other)
        distance += other_offset - offset
        if root == other_root:
            if distance != 0:
                raise Conflict
        elif distance >= 0 and distance + self._sizes[root] <= self._sizes[other_root]:
            self._put(root, other_root, distance)
        elif distance <= 0 and self._sizes[other_root] - distance <= self._sizes[root]:
            self._put(other_root, root, -distance)
        else:
            raise Conflict

    def _put(self, inner: str, outer: str, distance: int) -> None:
        alignment, before = self._alignments.get(inner, 1), self._alignments.get(outer, 1)
        if distance % alignment:
            raise Conflict
        self._parent[inner] = (outer, distance, before)
        self._alignments[outer] = max(alignment, before)


@dataclass
class AliasGroup:
    """Lifetime of a group: from step `first` to step `last`, both inclusive."""

    first: int
    last: int

    def clashes(self, other: "AliasGroup") -> bool:
        """Return True if two groups must not share a byte of a buffer.

        If the last step of one is the first of the other, its kernel may overwrite the first one.
        """
        early, late = sorted((self, other), key=lambda group: group.first)
        return early.last > late.first or early.first == late.first


def check_written_once(ranges: Iterable[tuple[int, int]]) -> None:
    """Raise Conflict if two writes, as (start, end), overlap."""
    ordered = sorted(ranges)
    if any(end > start for (_, end), (start, _) in zip(ordered, ordered[1:], strict=False)):
        raise Conflict


class Layout:
    """Groups and buffers for a set of sharing decisions. Raises Conflict if they are unsafe."""

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
        self._pieces = Union(self._sizes, graph.alignments)
        for alias in aliases:
            self._pieces.join(alias.result, alias.source, alias.offset)
        self._groups = self._find_groups()
        alignments = {root: self._pieces.alignment(root) for root in self._groups}
        self._buffers = Union(self._sizes, alignments)
        for source, result in in_place.values():
            self._join_buffers(source, result)
        self._check_buffers()
        self.locations = {name: self._locate(name) for name in self._sizes}
        self.blocks = self._find_blocks()

    def _find_groups(self) -> dict[str, AliasGroup]:
        """Return lifetimes by representative; raise Conflict if a byte of a group is
        written twice.
        """
        program = self._graph.program
        exit_step = len(self.steps) + 1
        written: dict[str, list[tuple[int, int]]] = {}
        groups: dict[str, AliasGroup] = {}

        def use(name: str, step: int) -> str:
            root, _ = self._pieces.find(name)
            group = groups.setdefault(root, AliasGroup(step, step))
            group.first, group.last = min(group.first, step), max(group.last, step)
            return root

        def write(name: str, step: int) -> None:
            offset = self._pieces.find(name)[1]
            ranges = written.setdefault(use(name, step), [])
            ranges.append((offset, offset + self._sizes[name]))

        for value in self._graph.inputs:
            write(value.name, ENTRY)
        for state in program.states:
            use(state.value.name, ENTRY)
            use(state.new.name, exit_step)
        for index, step in enumerate(self.steps, 1):
            for value in step.reads:
                use(value.name, index)
            for value in step.writes:
                write(value.name, index)
        for port in program.outputs:
            if port.value.name in self._sizes:
                use(port.value.name, exit_step)
        for ranges in written.values():
            check_written_once(ranges)
        return groups

    def _join_buffers(self, source: str, result: str) -> None:
        source_group, source_offset = self._pieces.find(source)
        result_group, result_offset = self._pieces.find(result)
        self._buffers.join(result_group, source_group, source_offset - result_offset)

    def _check_buffers(self) -> None:
        """Raise Conflict if groups that share bytes clash."""
        for members in self._members().values():
            for i, (name, low) in enumerate(members):
                for other, other_low in members[i + 1 :]:
                    apart = (
                        low >= other_low + self._sizes[other]
                        or other_low >= low + self._sizes[name]
                    )
                    if not apart and self._groups[name].clashes(self._groups[other]):
                        raise Conflict

    def _members(self) -> dict[str, list[tuple[str, int]]]:
        """Return groups and their offsets by buffer."""
        members: dict[str, list[tuple[str, int]]] = {}
        for name in self._groups:
            root, offset = self._buffers.find(name)
            members.setdefault(root, []).append((name, offset))
        return members

    def _locate(self, name: str) -> Location:
        group, offset = self._pieces.find(name)
        buffer, group_offset = self._buffers.find(group)
        return Location(buffer, group_offset + offset)

    def _find_blocks(self) -> tuple[MemoryBlock, ...]:
        buffers = [
            MemoryBlock(
                root,
                self._sizes[root],
                min(self._groups[name].first for name, _ in members),
                max(self._groups[name].last for name, _ in members),
                self._buffers.alignment(root),
            )
            for root, members in self._members().items()
        ]
        scratch = [
            MemoryBlock(scratch_name(index), step.kernel.scratch, index, index, step.alignment)
            for index, step in enumerate(self.steps, 1)
            if step.kernel.scratch > 0
        ]
        return (*self._with_overlaps({block.name: block for block in buffers}), *scratch)

    def _with_overlaps(self, blocks: dict[str, MemoryBlock]) -> tuple[MemoryBlock, ...]:
        """Return the blocks, with the bytes that a step's result may share with its inputs.

        The step must use nothing else in their blocks, and these must begin and end with it.
        """
        for index, step in enumerate(self.steps, 1):
            used = [self.locations[value.name].block for value in (*step.reads, *step.writes)]
            sizes = {value.name: value.bytes for value in step.reads}
            pairs: dict[tuple[str, str], list[Over]] = {}
            for near in step.kernel.overlap:
                if near.source in sizes:
                    at, to = self.locations[near.source], self.locations[near.result]
                    shift = at.offset - to.offset
                    over = Over(at.block, shift - near.distance, shift + sizes[near.source])
                    pairs.setdefault((at.block, to.block), []).append(over)
            for (under, over_it), overs in pairs.items():
                below, above = blocks[under], blocks[over_it]
                if (
                    used.count(under) == len(overs)
                    and used.count(over_it) == 1
                    and below.last == above.first == index
                    and below.alignment == above.alignment == 1
                ):
                    far = Over(under, min(o.low for o in overs), max(o.high for o in overs))
                    blocks[over_it] = replace(above, over=(*above.over, far))
        return tuple(blocks.values())
