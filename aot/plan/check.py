# SPDX-License-Identifier: Apache-2.0
"""Verifies a plan by symbolic execution: bytes hold tensor names instead of numbers.

Every byte of the arenas has a tag: byte i of tensor t. The program's calls run in order. A kernel
must find its input bytes at the plan's addresses, and it replaces its output bytes. Groups run row
by row. A kernel whose result aliases its input runs block by block, in its declared order. The
check shares no logic with the placement.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from aot.plan.accesses import spoiled_byte
from aot.plan.delegate_call import delegate_of
from aot.plan.delegates import DelegatePlaces
from aot.plan.graph import Graph, Step, alias_offset, cat_offsets
from aot.plan.row_group import RowGroup, RowInput
from aot.plan.sharing import Sharing
from aot.pte.reader import StoredDelegate
from kernels.common.kernel import OpCall, Value


class PlanError(AssertionError):
    """A wrong plan: a fault of the plan compiler, never of the user."""


class CheckedAddress(Protocol):
    """Address of a tensor in a pool."""

    @property
    def pool(self) -> str: ...

    @property
    def offset(self) -> int: ...


_SUMS = 1 << 32
"""Distance between tags of row sums: larger than their size in bytes."""

Piece = tuple[str, int, int]
"""Tensor, first byte, number of bytes."""


@dataclass(frozen=True)
class At:
    """An address in a pool."""

    pool: str
    offset: int


class CheckedMemory:
    """Contents of the pools as disjoint ranges (start, end, tensor, first byte)."""

    def __init__(self) -> None:
        self._ranges: dict[str, list[tuple[int, int, str, int]]] = {}

    def write(self, address: CheckedAddress, tensor: str, size: int, first: int = 0) -> None:
        """Store bytes of a tensor, from its byte `first` on."""
        start, end = address.offset, address.offset + size
        kept: list[tuple[int, int, str, int]] = []
        for low, high, name, at in self._ranges.get(address.pool, []):
            if low < start:
                kept.append((low, min(high, start), name, at))
            if high > end:
                begin = max(low, end)
                kept.append((begin, high, name, at + begin - low))
        self._ranges[address.pool] = [
            *(piece for piece in kept if piece[0] < piece[1]),
            (start, end, tensor, first),
        ]

    def move(self, source: CheckedAddress, to: CheckedAddress, size: int) -> None:
        """Move contents like memmove."""
        found = [
            (max(low, source.offset), min(high, source.offset + size), name, first - low)
            for low, high, name, first in self._ranges.get(source.pool, [])
        ]
        for low, high, name, shift in found:
            if low < high:
                at = At(to.pool, to.offset + low - source.offset)
                self.write(at, name, high - low, low + shift)

    def holds(self, address: CheckedAddress, pieces: list[Piece]) -> bool:
        at = address.offset
        for tensor, first, size in pieces:
            found = 0
            for low, high, name, start in self._ranges.get(address.pool, []):
                if name == tensor and start - low == first - at:
                    found += max(0, min(high, at + size) - max(low, at))
            if found != size:
                return False
            at += size
        return True


def check_plan(
    graph: Graph,
    sharing: Sharing,
    address: Callable[[str], CheckedAddress],
    scratch: Callable[[int], CheckedAddress],
) -> None:
    """Raise PlanError if a step would read wrong bytes.

    Args:
      graph, sharing: the plan to run.
      address: of an activation.
      scratch: address of a step's scratch memory, if any.
    """
    memory = CheckedMemory()
    entry = [*graph.inputs, *(state.value for state in graph.program.states)]
    pieces = _all_pieces(graph, sharing)

    def expect(name: str, when: str) -> None:
        if name in graph.activations and not memory.holds(address(name), pieces[name]):
            raise PlanError(f"{name} is not where it should be {when}")

    for value in entry:
        memory.write(address(value.name), value.name, value.bytes)
    for state in graph.program.states:
        if address(state.new.name) != address(state.value.name):
            raise PlanError(f"{state.new.name} is not where the next run takes {state.value.name}")
    for value in entry:
        expect(value.name, "when all inputs are written")
    for index, step in enumerate(sharing.steps, 1):
        if step.kernel.scratch:
            memory.write(scratch(index), f"scratch {index}", step.kernel.scratch)
        for value in step.reads:
            expect(value.name, f"before step {index}")
        if step.rows is not None:
            own = scratch(index) if step.kernel.scratch else address(step.writes[0].name)
            check_rows(step.rows, memory, pieces, address, own)
        else:
            for value in step.writes:
                memory.write(address(value.name), value.name, value.bytes)
        for value in step.writes:
            expect(value.name, f"after step {index}")
        if step.rows is None:
            _check_overwritten(step, index, address)
        if (
            step.rows is None
            and step.kernel.scratch
            and not memory.holds(scratch(index), [(f"scratch {index}", 0, step.kernel.scratch)])
        ):
            raise PlanError(f"step {index} writes its result over its scratch memory")
    for port in graph.program.outputs:
        if port.value.constant is None and port.value.name not in graph.constants:
            expect(port.value.name, "at the end")
    for state in graph.program.states:
        expect(state.new.name, "at the end")


def _all_pieces(graph: Graph, sharing: Sharing) -> dict[str, list[Piece]]:
    """Return the byte ranges of each written tensor."""
    entry = [*graph.inputs, *(state.value for state in graph.program.states)]
    calls = [call for step in sharing.steps for call in _calls(step)]
    written = [value for call in calls for value in call.writes]
    pieces = {value.name: [(value.name, 0, value.bytes)] for value in (*entry, *written)}
    for call in graph.program.calls:
        name = call.outputs[0].name
        if name not in graph.constants and name not in pieces:
            pieces[name] = _alias_pieces(call, pieces)
    return pieces


def _calls(step: Step) -> list[Step]:
    """Return the kernel calls of a step."""
    return [step] if step.rows is None else [member.step for member in step.rows.members]


def check_rows(
    group: RowGroup,
    memory: CheckedMemory,
    pieces: Mapping[str, list[Piece]],
    address: Callable[[str], CheckedAddress],
    scratch: CheckedAddress,
) -> None:
    """Execute a row group symbolically, in the order of firmware/runtime/rows.c.

    Raise PlanError if a call of one row would not find its inputs, or would overwrite them.

    Args:
      group: the group to run.
      memory: before the group; it is updated to the state after it.
      pieces: of all tensors.
      address: of an activation before the group or after it.
      scratch: of the group's row ring buffers and kernels.
    """
    members = group.members
    rings, own_scratch = (
        [At(scratch.pool, scratch.offset + at) for at in offsets]
        for offsets in (group.ring_offsets, group.scratch_offsets)
    )
    done, first = [0] * len(members), [0] * len(members)

    def base(index: int) -> tuple[CheckedAddress, int]:
        """Return the address of a call's output, and the index of its first row there."""
        if group.slots[index]:
            return rings[index], first[index]
        return address(members[index].output.name), 0

    def shifted(at: CheckedAddress, by: int) -> At:
        return At(at.pool, at.offset + by)

    def make_room(index: int) -> At:
        slots, size = group.slots[index], members[index].row_bytes
        if slots and done[index] - first[index] == slots:
            lowest = done[index]
            for reader, other in enumerate(members):
                if done[reader] < other.made:
                    lows = (s.taps.first(done[reader]) for s in other.inputs if s.producer == index)
                    lowest = min([lowest, *lows])
            dropped = lowest - first[index]
            kept = (slots - dropped) * size
            memory.move(shifted(rings[index], dropped * size), rings[index], kept)
            first[index] = lowest
        at, begin = base(index)
        return shifted(at, (done[index] - begin) * size)

    def reads(index: int) -> Iterator[tuple[RowInput, At, list[Piece]]]:
        for source in members[index].inputs:
            low, end = source.taps.first(done[index]), source.taps.end(done[index])
            if source.producer is None:
                at, begin = address(source.value.name), 0
            else:
                at, begin = base(source.producer)
            size = source.row_bytes
            rows = _cut(pieces[source.value.name], low * size, (end - low) * size)
            yield source, shifted(at, (low - begin) * size), rows

    def read_whole(index: int) -> Iterator[Value]:
        by_rows = {source.value.name for source in members[index].inputs}
        yield from (v for v in members[index].step.reads if v.name not in by_rows)

    def lacking(index: int) -> int | None:
        for source in members[index].inputs:
            at = source.producer
            if at is not None and done[at] < source.taps.end(done[index]):
                return at
        return None

    def fold(index: int, row: int) -> None:
        """Check a folding row: it needs the sums of the row before.

        The last row makes the result.
        """
        member = members[index]
        sums, name = rings[index], member.output.name
        if row > 0 and not memory.holds(sums, [(f"sums of {name}", row * _SUMS, member.keeps)]):
            raise PlanError(f"row {row} of {name} does not find its sums")
        memory.write(sums, f"sums of {name}", member.keeps, (row + 1) * _SUMS)
        if row == member.made - 1:
            memory.write(address(name), name, member.output.bytes)

    for last in reversed(range(len(members))):
        while done[last] < members[last].made:
            index = last
            while (before := lacking(index)) is not None:
                index = before
            member, row = members[index], done[index]
            found = [*reads(index)]
            at = make_room(index)
            if group.slots[index] and row - first[index] >= group.slots[index]:
                raise PlanError(f"the ring of {member.output.name} has no room for row {row}")
            own, size = member.scratch, member.row_bytes
            name = f"scratch of {member.output.name}"
            if own:
                memory.write(own_scratch[index], name, own)
            if member.keeps:
                fold(index, row)
            else:
                memory.write(at, member.output.name, size, row * size)
            for source, place, rows in found:
                if not memory.holds(place, rows):
                    raise PlanError(
                        f"row {row} of {member.output.name} does not find its rows of "
                        f"{source.value.name}"
                    )
            for value in read_whole(index):
                if not memory.holds(address(value.name), pieces[value.name]):
                    raise PlanError(
                        f"row {row} of {member.output.name} does not find all of {value.name}"
                    )
            if not member.keeps and not memory.holds(at, [(member.output.name, row * size, size)]):
                raise PlanError(f"row {row} of {member.output.name} is not where it should be")
            if own and not memory.holds(own_scratch[index], [(name, 0, own)]):
                raise PlanError(f"row {row} of {member.output.name} lies over its scratch memory")
            done[index] += 1


def check_delegates(
    sharing: Sharing,
    address: Callable[[str], CheckedAddress],
    scratch: Callable[[int], CheckedAddress],
    reach: Callable[[OpCall, StoredDelegate], DelegatePlaces],
) -> None:
    """Raise PlanError if a delegate's memory is not aligned, or not in its engine's `reach`."""
    for index, step in enumerate(sharing.steps, 1):
        delegate = delegate_of(step.op)
        if delegate is None:
            continue
        reached = reach(step.op, delegate)
        tensors = [v for v in (*step.op.tensors("inputs"), *step.op.outputs) if v.constant is None]
        used = [(v.name, address(v.name), reached.tensors) for v in tensors]
        if delegate.needs.scratch_bytes:
            used.append(("scratch memory", scratch(index), reached.scratch))
        for name, at, pools in used:
            if at.offset % delegate.needs.alignment:
                raise PlanError(f"{name} is not aligned for step {index}")
            if at.pool not in pools:
                raise PlanError(f"{name} is beyond the reach of the engine of step {index}")


def _check_overwritten(step: Step, index: int, address: Callable[[str], CheckedAddress]) -> None:
    """Raise PlanError if a result overwrites an input byte still to be read by the kernel."""
    reads = {value.name for value in step.reads}
    pairs = ((a, b) for a, b in step.kernel.in_place if a in reads)
    in_place = {a for a, b in pairs if address(a) == address(b)}
    orders = {(over.source, over.result): over.order for over in step.kernel.overlap}
    for source, result in itertools.product(step.reads, step.writes):
        at, to = address(source.name), address(result.name)
        meet = at.offset < to.offset + result.bytes and to.offset < at.offset + source.bytes
        if at.pool != to.pool or not meet or source.name in in_place:
            continue
        order = orders.get((source.name, result.name))
        if order is None:
            raise PlanError(f"step {index} writes {result.name} over {source.name}")
        byte = spoiled_byte(source, result, order, at.offset - to.offset)
        if byte is not None:
            where = f"{source.name}, byte {byte} of which it has yet to read"
            raise PlanError(f"step {index} writes {result.name} over {where}")


def _alias_pieces(call: OpCall, pieces: Mapping[str, list[Piece]]) -> list[Piece]:
    """Return the byte ranges of a result that needs no kernel."""
    offset = alias_offset(call)
    if offset is not None:
        return _cut(pieces[call.tensor("input").name], offset, call.output().bytes)
    if cat_offsets(call) is None:
        raise PlanError(f"{call.op} has no kernel call, and is not an alias")
    return [piece for value in call.tensors("inputs") for piece in pieces[value.name]]


def _cut(pieces: list[Piece], offset: int, size: int) -> list[Piece]:
    cut: list[Piece] = []
    for tensor, first, length in pieces:
        low, high = max(0, offset), min(length, offset + size)
        if low < high:
            cut.append((tensor, first + low, high - low))
        offset -= length
    return cut
