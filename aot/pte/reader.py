# SPDX-License-Identifier: Apache-2.0
"""Reader of the .pte format: container, tables, and metadata of inputs and outputs.

It imports no torch and no ExecuTorch. Any damage raises PteError with one message. The plan
compiler checks the meaning and consistency of values and instructions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from aot.pte import schema
from aot.pte.conventions import (
    CHECKSUM_BYTES,
    FORMAT_VERSION,
    FORMAT_VERSION_METHOD,
    FORWARD,
    INPUT_NAMES_METHOD,
    LAYOUTS,
    OP_MODULES_METHOD,
    Border,
    Needs,
    PteError,
    Side,
    checksum,
    is_name,
    layouts_method,
    scales_method,
    zero_points_method,
)
from aot.pte.flatbuffer import FlatbufferError, read_root

_MAGIC = b"ET12"
_BUNDLE_MAGIC = b"BP08"
_HEADER_MAGIC = b"eh00"
_HEADER_END = 40

# Field of the table holding a value of this type.
_FIELDS: Mapping[type, str] = {int: "int_val", float: "double_val", str: "string_val"}

_T = TypeVar("_T")


@dataclass(frozen=True)
class StoredDelegate:
    """A delegate as stored in a file.

    Attributes:
      backend: its id.
      payload: data for its engine.
      needs: device requirements of the payload.
    """

    backend: str
    payload: bytes
    needs: Needs


@dataclass(frozen=True)
class PteContents:
    """Contents of a Pilotlight .pte.

    Attributes:
      forward: the model.
      constants: their bytes, by the index used in tensors; padding may follow.
      initial: bytes of the state before the first run, by the same kind of index.
      delegates: by the index used in calls.
      inputs: metadata of each input.
      outputs: metadata of each output.
      modules: the user's module of each instruction, "" where unknown.
      views: values not written by an instruction, and their base values.
    """

    forward: schema.ExecutionPlan
    constants: tuple[bytes, ...]
    initial: tuple[bytes, ...]
    delegates: tuple[StoredDelegate, ...]
    inputs: tuple[Border, ...]
    outputs: tuple[Border, ...]
    modules: tuple[str, ...]
    views: Mapping[int, int] = field(default_factory=dict)


def read_pte(data: bytes) -> PteContents:
    """Decode a Pilotlight .pte. Raise PteError for other or damaged files."""
    check_container(data)
    if checksum(data[:-CHECKSUM_BYTES]) != data[-CHECKSUM_BYTES:]:
        raise PteError("is damaged, or was not lowered by Pilotlight: its checksum is wrong")
    program = read_tables(data)
    methods = {plan.name: plan for plan in program.execution_plan}
    if FORWARD not in methods:
        raise PteError(f"has no method {FORWARD!r}, only {sorted(methods)}")
    version = _constant_list(methods, FORMAT_VERSION_METHOD, int)
    if version != [FORMAT_VERSION]:
        raise PteError(
            f"has Pilotlight format version {version}; this plan compiler reads version "
            f"{FORMAT_VERSION}"
        )
    check_segments(program)
    forward = methods[FORWARD]
    return PteContents(
        forward,
        buffers(data, program, program.constant_segment),
        buffers(data, program, next(iter(program.mutable_data_segments), None)),
        tuple(_delegate(data, program, i, d) for i, d in enumerate(forward.delegates)),
        _borders(methods, "input", len(forward.inputs)),
        _borders(methods, "output", len(forward.outputs)),
        _modules(methods, sum(len(chain.instructions) for chain in forward.chains)),
    )


def check_container(data: bytes) -> None:
    """Check the file type, and that the file is complete."""
    magic = data[4:8]
    if magic == _BUNDLE_MAGIC:
        raise PteError("is a bundled program (test data around a .pte), not a .pte")
    if magic != _MAGIC:
        raise PteError(
            f"is not a .pte: bytes 4 to 7 are {magic!r}, not {_MAGIC!r} ({len(data)} bytes)"
        )
    if not _has_header(data):
        return
    if len(data) < _HEADER_END:
        raise PteError(f"is truncated: {len(data)} bytes")
    program_size, base, segment_size = (_header_field(data, at) for at in (16, 24, 32))
    end = max(program_size, base + segment_size)
    if end > len(data):
        raise PteError(f"is truncated: {len(data)} bytes of {end}")
    if base < program_size:
        raise PteError("is damaged: its segments overlap its program")


def _has_header(data: bytes) -> bool:
    """Return True if a program has an extended header; without constants it has none."""
    return data[8:12] == _HEADER_MAGIC


def _header_field(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 8], "little")


def read_tables(data: bytes) -> schema.Program:
    """Return the tables of any file that passes check_container."""
    try:
        return read_root(
            data[: _header_field(data, 16)] if _has_header(data) else data, schema.Program
        )
    except (FlatbufferError, UnicodeDecodeError) as error:
        raise PteError(f"is damaged: its program cannot be decoded ({error})") from error


def read_segment(data: bytes, program: schema.Program, index: int) -> bytes:
    """Return a segment of a file: data after its tables."""
    start = _segment_start(data, program, index)
    end = start + program.segments[index].size
    if end > len(data):
        raise PteError(f"is damaged: segment {index} ends at byte {end} of {len(data)}")
    return data[start:end]


def _segment_start(data: bytes, program: schema.Program, index: int) -> int:
    segment = item_at(program.segments, index, "segment")
    if not _has_header(data):
        raise PteError("is damaged: it has segments, but no extended header")
    start: int = _header_field(data, 24) + segment.offset
    return start


def check_segments(program: schema.Program) -> None:
    """Check that segments are in order and do not overlap."""
    end = 0
    for index, segment in enumerate(program.segments):
        if segment.offset < end:
            raise PteError(f"is damaged: segment {index} overlaps the one before it")
        end = segment.offset + segment.size


def _delegate(
    data: bytes, program: schema.Program, index: int, delegate: schema.BackendDelegate
) -> StoredDelegate:
    """Return the stored data of a delegate.

    Its payload must be aligned as required, so a loader may leave it in place.
    """
    where = f"delegate {index}"
    if not is_name(delegate.id):
        raise PteError(f"is damaged: {where} has the id {delegate.id!r}")
    where += f" ({delegate.id})"
    payload = payload_of(data, program, delegate.processed)
    try:
        needs = Needs.of({spec.key: spec.value for spec in delegate.compile_specs})
    except ValueError as error:
        raise PteError(f"is damaged: {where}: {error}") from error
    if not payload:
        raise PteError(f"is damaged: {where} has an empty payload")
    if delegate.processed.location == schema.PAYLOAD_IN_SEGMENT:
        start = _segment_start(data, program, delegate.processed.index)
        if start % needs.alignment:
            raise PteError(
                f"is damaged: {where} has its payload at byte {start}, which is not aligned to "
                f"{needs.alignment} bytes"
            )
    return StoredDelegate(delegate.id, payload, needs)


def payload_of(
    data: bytes, program: schema.Program, where: schema.BackendDelegateDataReference
) -> bytes:
    """Return the stored data of a delegate."""
    if where.location == schema.PAYLOAD_IN_SEGMENT:
        return read_segment(data, program, where.index)
    inline: bytes = item_at(program.backend_delegate_data, where.index, "payload").data
    return inline


def buffers(
    data: bytes, program: schema.Program, where: schema.SubsegmentOffsets | None
) -> tuple[bytes, ...]:
    """Return constants, or initial state values, by the index used in tensors."""
    if where is None or len(where.offsets) < 2:  # the first is a placeholder for "none"
        return ()
    segment = read_segment(data, program, where.segment_index)
    ends = [*where.offsets[1:], len(segment)]
    return tuple(segment[a:b] for a, b in zip(where.offsets, ends, strict=True))


def _constant_list(
    methods: Mapping[str, schema.ExecutionPlan], name: str, kind: type[_T]
) -> list[_T]:
    """Return the result of a constant method: a value, or the items of a list."""
    plan = methods.get(name)
    if plan is None:
        raise PteError(f"has no {name!r}: it was not lowered by Pilotlight, or is damaged")
    items: list[_T] = []
    for index in plan.outputs:
        value = item_at(plan.values, index, f"{name}: value").val
        item = getattr(value, _FIELDS[kind], None)
        if not isinstance(item, kind):
            raise PteError(f"is damaged: {name} returns {type(value).__name__}")
        items.append(item)
    return items


def _modules(methods: Mapping[str, schema.ExecutionPlan], count: int) -> tuple[str, ...]:
    if OP_MODULES_METHOD not in methods:
        return ("",) * count
    modules = _constant_list(methods, OP_MODULES_METHOD, str)
    if len(modules) != count:
        raise PteError(f"is damaged: {count} instructions, but {len(modules)} modules")
    return tuple(modules)


def _borders(
    methods: Mapping[str, schema.ExecutionPlan], side: Side, count: int
) -> tuple[Border, ...]:
    scales = _constant_list(methods, scales_method(side), float)
    zero_points = _constant_list(methods, zero_points_method(side), int)
    layouts = _constant_list(methods, layouts_method(side), int)
    names = [""] * count
    if side == "input" and INPUT_NAMES_METHOD in methods:
        names = _constant_list(methods, INPUT_NAMES_METHOD, str)
    if not len(scales) == len(zero_points) == len(layouts) == len(names) == count:
        raise PteError(
            f"is damaged: {count} {side}s, {len(scales)} scales, {len(zero_points)} zero points, "
            f"{len(layouts)} layouts, {len(names)} names"
        )
    borders = []
    for index, (scale, zero_point) in enumerate(zip(scales, zero_points, strict=True)):
        if not (0.0 <= scale < math.inf and -128 <= zero_point <= 127):
            raise PteError(f"is damaged: {side} {index}: scale {scale}, zero point {zero_point}")
        layout = item_at(LAYOUTS, layouts[index], f"{side} {index}: layout")
        borders.append(Border(scale, zero_point, layout, names[index]))
    return tuple(borders)


def item_at(items: Any, index: Any, what: str) -> Any:
    """Return items[index]. Raise PteError if there is no such item."""
    if not isinstance(index, int) or not 0 <= index < len(items):
        raise PteError(f"is damaged: {what} {index} does not exist; there are {len(items)}")
    return items[index]


def delegate_payloads(data: bytes, backend: str) -> list[bytes]:
    """Return the payloads that any .pte holds for a backend, in delegate order."""
    check_container(data)
    program = read_tables(data)
    return [
        payload_of(data, program, delegate.processed)
        for plan in program.execution_plan
        for delegate in plan.delegates
        if delegate.id == backend
    ]
