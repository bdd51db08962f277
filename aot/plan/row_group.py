# SPDX-License-Identifier: Apache-2.0
"""Row groups: kernel calls that run row by row (row streaming), as one step.

Intermediate tensors have only the rows still needed in memory, in a row ring buffer in the step's
scratch memory. firmware/runtime/rows.c defines the order of the rows. `order` is the same in
Python; ring sizes and alias distances follow from it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from aot.plan.graph import Step
from aot.plan.layout import ALIGNMENT
from aot.plan.planner import align_up
from kernels.common.kernel import Field, KernelCall, OpCall, Value
from kernels.common.overlap import Overlap
from kernels.common.rows import ByRows, Taps

STEP = "pl_rows"
MOST_CALLS = 32
"""PL_ROW_CALLS of rows.h."""
MOST_INPUTS = 8
"""PL_ROW_INPUTS."""
MOST_ROWS = 65535


@dataclass(frozen=True, eq=False)
class RowInput:
    """Input of a member, read row by row.

    Attributes:
      field: of the kernel's data.
      value: the tensor in the member's shape.
      producer: index of the member making it; None if it exists before the group runs.
    """

    field: str
    value: Value
    taps: Taps
    producer: int | None

    @cached_property
    def row_bytes(self) -> int:
        return self.value.bytes // self.taps.rows


@dataclass(frozen=True, eq=False)
class Member:
    """A call in a row group.

    Attributes:
      inputs: its inputs read by rows; it reads no other tensors of the group.
      leaves: True if all rows of its output stay.
      made: number of rows computed.
      is_fallback: True for a fallback call of the step's call.
    """

    step: Step
    rows: ByRows
    inputs: tuple[RowInput, ...]
    leaves: bool
    made: int
    is_fallback: bool = False

    @property
    def output(self) -> Value:
        return self.step.writes[0]

    @cached_property
    def row_bytes(self) -> int:
        return 0 if self.rows.folded else self.output.bytes // self.rows.rows

    @property
    def scratch(self) -> int:
        """Return the kernel's scratch memory for one row."""
        return 0 if self.keeps else _row_scratch(self.step.kernel)

    def written(self, row: int) -> int:
        """Return the output bytes that are complete after a row."""
        if self.rows.folded:
            return self.output.bytes if row == self.made - 1 else 0
        return (row + 1) * self.row_bytes

    @property
    def keeps(self) -> int:
        """Return the bytes that a kernel keeps between rows if it folds them into one result."""
        return self.step.kernel.scratch if self.rows.folded else 0

    @cached_property
    def leaner(self) -> "Member":
        """Return the member with its next fallback call that makes the same rows with less scratch
        memory.
        """
        call = self.step.kernel.fallback
        while call is not None and (call.rows is None or _row_scratch(call) >= self.scratch):
            call = call.fallback
        rows = None if call is None else call.rows
        if call is None or rows is None:
            return self
        if (rows.rows, rows.inputs) != (self.rows.rows, self.rows.inputs):
            return self
        step = replace(self.step, kernel=call)
        return replace(self, step=step, rows=rows, is_fallback=True)

    @cached_property
    def leanest(self) -> "Member":
        """Return the member with the least scratch memory."""
        return self if self.leaner is self else self.leaner.leanest


def _row_scratch(kernel: KernelCall) -> int:
    assert kernel.rows is not None
    return kernel.scratch if kernel.rows.scratch is None else kernel.rows.scratch


def order(members: Sequence[Member]) -> Iterator[tuple[int, int]]:
    """Yield (member, row) of every call, in the order of pl_rows_next."""
    ends = [  # by row: rows needed of each producer
        [
            (s.producer, [s.taps.end(row) for row in range(member.made)])
            for s in member.inputs
            if s.producer is not None
        ]
        for member in members
    ]
    done = [0] * len(members)
    last = len(members) - 1
    while last >= 0:
        if done[last] == members[last].made:
            last -= 1
            continue
        index, lacks = last, True
        while lacks:
            lacks = False
            row = done[index]
            for producer, end in ends[index]:
                if done[producer] < end[row]:
                    index, lacks = producer, True
                    break
        yield index, done[index]
        done[index] += 1


@dataclass(frozen=True, eq=False)
class RowGroup:
    """Kernel calls that run row by row."""

    members: tuple[Member, ...]

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """Return the rows in each member's ring; 0 if all rows stay in memory."""
        return self._run[0]

    @cached_property
    def moved_bytes(self) -> int:
        """Return the bytes that row ring buffers copy in one run of the group."""
        return self._run[1]

    @cached_property
    def calls(self) -> int:
        return sum(member.made for member in self.members)

    @property
    def ring_offsets(self) -> tuple[int, ...]:
        """Return the offset of each member's row ring buffer in the step's scratch memory."""
        return self._places[0]

    @property
    def scratch_offsets(self) -> tuple[int, ...]:
        """Return the offset of each member's own scratch memory in the step's."""
        return self._places[1]

    @property
    def scratch(self) -> int:
        """Return the size of the step's scratch memory."""
        return self._places[2]

    @cached_property
    def _places(self) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """Place row ring buffers and scratch memory.

        Blocks that are never in use together share bytes.
        """
        members = self.members
        rings = [
            align_up(slots * member.row_bytes + member.keeps, ALIGNMENT)
            for slots, member in zip(self.slots, members, strict=True)
        ]
        sizes = rings + [align_up(member.scratch, ALIGNMENT) for member in members]
        orders = [
            sorted(range(len(sizes)), key=lambda i: (-sizes[i], i)),
            sorted(range(len(sizes)), key=lambda i: (-self._in_use[i].bit_count(), i)),
        ]
        offsets, size = min((_first_fit(sizes, self._in_use, o) for o in orders), key=_second)
        return tuple(offsets[: len(members)]), tuple(offsets[len(members) :]), size

    @cached_property
    def _in_use(self) -> tuple[int, ...]:
        """Return the calls that use each ring buffer, then each member's scratch, as bit masks."""
        count = len(self.members)
        calls = [0] * count
        made: list[list[int]] = [[] for _ in range(count)]
        read: list[list[int]] = [[] for _ in range(count)]
        for at, (index, row) in enumerate(self._events):
            calls[index] |= 1 << at
            made[index].append(at)
            read[index].append(at)
            for source in self.members[index].inputs:
                if source.producer is not None:
                    for needed in range(source.taps.first(row), source.taps.end(row)):
                        read[source.producer][needed] = at
        rings = []
        for index, member in enumerate(self.members):
            spans = [*zip(made[index], read[index], strict=True)]
            if member.keeps:
                spans = [(made[index][0], made[index][-1])]
            rings.append(_union(spans))
        return (*rings, *calls)

    @cached_property
    def leaner(self) -> "RowGroup":
        """Return the group with less scratch memory; None if there is none.

        Members become fallback calls if these need less scratch, and their scratch exceeds the
        least need of the others.
        """
        least = max(m.leanest.scratch for m in self.members)
        members = tuple(m.leaner if m.scratch > least else m for m in self.members)
        return self if members == self.members else self.with_members(members)

    def with_members(self, members: Sequence[Member]) -> "RowGroup":
        """Return the group with other calls that make the same rows."""
        found = RowGroup(tuple(members))
        same = {"_run": self._run, "_in_use": self._in_use, "overlap": self.overlap}
        vars(found).update(same)  # they follow from the same rows
        return found

    @property
    def leanest(self) -> "RowGroup":
        """Return the group with the least scratch memory."""
        return self if self.leaner is self else self.leaner.leanest

    @cached_property
    def readers(self) -> tuple[tuple[tuple[int, Taps], ...], ...]:
        """Return for each member the members that read its output, and their windows."""
        return tuple(
            tuple(
                (reader, source.taps)
                for reader, member in enumerate(self.members)
                for source in member.inputs
                if source.producer == index
            )
            for index in range(len(self.members))
        )

    @cached_property
    def _events(self) -> Sequence[tuple[int, int]]:
        return [*order(self.members)]

    @cached_property
    def _run(self) -> tuple[tuple[int, ...], int]:
        members, readers = self.members, self.readers
        done, slots, history = [0] * len(members), [0] * len(members), [0] * len(members)
        lows: list[list[int]] = [[] for _ in members]
        for index, row in self._events:
            if not members[index].leaves:
                low = row
                for reader, taps in readers[index]:
                    if done[reader] < members[reader].made:
                        low = min(low, taps.first(done[reader]))
                lows[index].append(low)
                slots[index] = max(slots[index], row - low + 1)
            done[index] += 1
        for index, member in enumerate(members):
            first = 0
            for row, low in enumerate(lows[index]):
                if row - first == slots[index]:
                    history[index] += (row - low) * member.row_bytes
                    first = low
        return tuple(slots), sum(history)

    @cached_property
    def overlap(self) -> tuple[Overlap, ...]:
        """Return KernelCall.overlap for each pair of group input and group output."""
        entering = {
            value.name: value
            for member in self.members
            for value in (s.value for s in member.inputs if s.producer is None)
        }
        whole = {
            value.name
            for member in self.members
            for value in member.step.reads
            if value.name not in {source.value.name for source in member.inputs}
        }
        found = []
        events = self._events
        for source in entering.values():
            if source.name in whole:
                continue
            later = source.bytes  # no byte before this one is read any more
            worst = {m.output.name: -source.bytes for m in self.members if m.leaves}
            for index, row in reversed(events):
                member = self.members[index]
                for read in member.inputs:
                    if read.value.name == source.name:
                        later = min(later, read.taps.first(row) * read.row_bytes)
                if member.leaves and member.written(row) and later < source.bytes:
                    apart = member.written(row) - later
                    worst[member.output.name] = max(worst[member.output.name], apart)
            found += [Overlap(source.name, name, distance) for name, distance in worst.items()]
        return tuple(found)

    @cached_property
    def step(self) -> Step:
        """Return the group as one step."""
        inner = {m.output.name for m in self.members}
        inner |= {s.value.name for m in self.members for s in m.inputs if s.producer is not None}
        reads = {v.name: v for m in self.members for v in m.step.reads if v.name not in inner}
        writes = {m.output.name: m.output for m in self.members if m.leaves}
        data: dict[str, Field] = {"calls": tuple(m.step.kernel.data for m in self.members)}
        kernel = KernelCall(
            STEP, "firmware/runtime/rows.h", {}, {}, data, self.scratch, overlap=self.overlap
        )
        last = self.members[-1].step.op
        op = OpCall("rows", {}, tuple(writes.values()), last.id, last.module)
        return Step(op, kernel, tuple(reads.values()), tuple(writes.values()), rows=self)


def _union(spans: Sequence[tuple[int, int]]) -> int:
    """Return the bits of spans (first, last), in order of the first."""
    bits, low, high = 0, 0, -1
    for first, last in spans:
        if first > high + 1:
            bits |= (1 << high + 1) - (1 << low)
            low = first
        high = max(high, last)
    return bits | (1 << high + 1) - (1 << low)


def _first_fit(
    sizes: Sequence[int], in_use: Sequence[int], order: Sequence[int]
) -> tuple[list[int], int]:
    """Return offsets and the total size.

    Each block gets the lowest offset that is free during its use.
    """
    offsets = [0] * len(sizes)
    placed: list[int] = []
    for i in order:
        taken = sorted((offsets[j], sizes[j]) for j in placed if in_use[i] & in_use[j])
        for offset, size in taken:
            if offsets[i] + sizes[i] <= offset:
                break
            offsets[i] = max(offsets[i], offset + size)
        if sizes[i]:
            placed.append(i)
    return offsets, max(map(sum, zip(offsets, sizes, strict=True)), default=0)


def _second(found: tuple[list[int], int]) -> int:
    return found[1]
