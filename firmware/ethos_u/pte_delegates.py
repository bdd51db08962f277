# SPDX-License-Identifier: Apache-2.0
"""Finds the Ethos-U payloads in a .pte: of the flatbuffer only the tables that lead to delegates.

(ExecuTorch's own reader imports torch, which takes longer than everything that the tools here do.)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from flatbuffers.number_types import Uint8Flags, Uint32Flags, Uint64Flags
from flatbuffers.table import Table

# Field numbers of program.fbs.
_PROGRAM_EXECUTION_PLAN = 1
_PROGRAM_BACKEND_DELEGATE_DATA = 3
_PROGRAM_SEGMENTS = 4
_PLAN_DELEGATES = 7
_DELEGATE_ID = 0
_DELEGATE_PROCESSED = 1
_REFERENCE_LOCATION = 0
_REFERENCE_INDEX = 1
_INLINE_DATA = 0
_SEGMENT_OFFSET = 0
_SEGMENT_SIZE = 1

_LOCATION_INLINE = 0
_BACKEND = b"EthosUBackend"

# Behind the flatbuffer's root and identifier: magic, length, bytes of the program, where segments
# start.
_EXTENDED_HEADER = struct.Struct("<4sIQQ")
_EXTENDED_MAGIC = b"eh00"


def _field(table: Table, number: int) -> int:
    """Where a field is, counted from the table; 0 if it is not there."""
    return int(table.Offset(4 + 2 * number))


def _number(table: Table, number: int, flags: type) -> int:
    at = _field(table, number)
    return int(table.Get(flags, table.Pos + at)) if at else 0


def _table(table: Table, number: int) -> Table:
    at = _field(table, number)
    if not at:
        raise ValueError(f"field {number} is missing")
    return Table(table.Bytes, table.Indirect(table.Pos + at))


def _tables(table: Table, number: int) -> Iterator[Table]:
    at = _field(table, number)
    if at:
        start = table.Vector(at)
        for index in range(table.VectorLen(at)):
            yield Table(table.Bytes, table.Indirect(start + 4 * index))


def _bytes(table: Table, number: int) -> bytes:
    at = _field(table, number)
    if not at:
        return b""
    start = table.Vector(at)
    return bytes(table.Bytes[start : start + table.VectorLen(at)])


def _segment(data: bytes, segment: Table) -> bytes:
    magic, _, _, base = _EXTENDED_HEADER.unpack_from(data, 8)
    if magic != _EXTENDED_MAGIC:
        raise ValueError("segments without an extended header")
    start = base + _number(segment, _SEGMENT_OFFSET, Uint64Flags)
    size = _number(segment, _SEGMENT_SIZE, Uint64Flags)
    if start + size > len(data):
        raise ValueError(f"a segment ends at byte {start + size}, the file at {len(data)}")
    return data[start : start + size]


def ethos_u_delegates(data: bytes) -> list[bytes]:
    """What a .pte keeps for ExecuTorch's Ethos-U backend, in order. ValueError if it is damaged."""
    try:
        program = Table(data, struct.unpack_from("<I", data)[0])
        inline = list(_tables(program, _PROGRAM_BACKEND_DELEGATE_DATA))
        segments = list(_tables(program, _PROGRAM_SEGMENTS))
        found = []
        for plan in _tables(program, _PROGRAM_EXECUTION_PLAN):
            for delegate in _tables(plan, _PLAN_DELEGATES):
                if _bytes(delegate, _DELEGATE_ID) != _BACKEND:
                    continue
                reference = _table(delegate, _DELEGATE_PROCESSED)
                index = _number(reference, _REFERENCE_INDEX, Uint32Flags)
                if _number(reference, _REFERENCE_LOCATION, Uint8Flags) == _LOCATION_INLINE:
                    found.append(_bytes(inline[index], _INLINE_DATA))
                else:
                    found.append(_segment(data, segments[index]))
        return found
    except (IndexError, OverflowError, TypeError, struct.error) as error:
        raise ValueError(f"not a sound .pte: {error}") from error
