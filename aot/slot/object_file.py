# SPDX-License-Identifier: Apache-2.0
"""Reads an object file as compilers write it: data, and where addresses go into them."""

import struct
from dataclasses import dataclass

from tools.text.malformed import malformed

_REL, _RELA, _SYMTAB, _NOBITS = 9, 4, 2, 8
_ALLOC, _EXECUTABLE = 2, 4
_UNDEFINED = 0
_MOST_ALIGNMENT = 4096

# Relocations that put an address into data.
_ARM, _X86_64 = 40, 62
_ADDRESS = {_ARM: 2, _X86_64: 1}  # R_ARM_ABS32, R_X86_64_64


class ObjectError(ValueError):
    """The file is no object file of plans; the text says why."""


@dataclass(frozen=True)
class Relocation:
    """At `place` goes the address of byte `addend` of a section, or of what is called `name`."""

    place: int
    section: int | None
    name: str
    addend: int


@dataclass(frozen=True)
class Section:
    """Data in memory."""

    number: int
    name: str
    alignment: int
    contents: bytes
    relocations: tuple[Relocation, ...]


@dataclass(frozen=True)
class ObjectFile:
    """Attributes:
    word: bytes of an address.
    sections: all with data.
    symbols: by name, where it is: number of a section, offset.
    """

    word: int
    sections: tuple[Section, ...]
    symbols: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class _Header:
    name: int
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int


def read_object(data: bytes) -> ObjectFile:
    """Reads an object file for 32-bit Arm or for x86-64.

    Raises:
      ObjectError: it is something else, or damaged.
    """
    with malformed(ObjectError, "the object file"):
        return _read(data)


def _read(data: bytes) -> ObjectFile:
    if data[:4] != b"\x7fELF" or data[5] != 1:
        raise ObjectError("is no little-endian ELF file")
    is_64 = data[4] == 2
    kind, machine = struct.unpack_from("<HH", data, 16)
    if kind != 1 or machine not in _ADDRESS:
        raise ObjectError("is no object file for Arm or x86-64")
    offset = struct.unpack_from("<Q" if is_64 else "<I", data, 40 if is_64 else 32)[0]
    size, count, names = struct.unpack_from("<HHH", data, 58 if is_64 else 46)
    headers = []
    for at in range(offset, offset + count * size, size):
        name, kind, flags, _, start, length, link, info, alignment, _ = struct.unpack_from(
            "<IIQQQQIIQQ" if is_64 else "<10I", data, at
        )
        headers.append(_Header(name, kind, flags, start, length, link, info, alignment))

    def text(table: int, at: int) -> str:
        start = headers[table].offset + at
        return data[start : data.index(b"\0", start)].decode()

    symbols = _symbols(data, headers, is_64)
    sections = []
    for number, header in enumerate(headers):
        if not header.flags & _ALLOC or header.flags & _EXECUTABLE or header.size == 0:
            continue
        name = text(names, header.name)
        if name.startswith((".ARM", ".eh_frame", ".note")):
            continue
        if header.kind == _NOBITS:
            raise ObjectError(f"has variables in {name}")
        contents = data[header.offset : header.offset + header.size]
        if len(contents) < header.size or header.alignment > _MOST_ALIGNMENT:
            raise ObjectError(f"has a damaged section {name}: {header.size} bytes")
        relocations: list[Relocation] = []
        for table in headers:
            if table.kind in (_REL, _RELA) and table.info == number:
                relocations += _relocations(data, table, contents, is_64, machine, symbols)
        sections.append(
            Section(number, name, max(header.alignment, 1), contents, tuple(relocations))
        )
    found = {name: (at, value) for name, at, value in symbols if name and at != _UNDEFINED}
    return ObjectFile(8 if is_64 else 4, tuple(sections), found)


def _symbols(data: bytes, headers: list[_Header], is_64: bool) -> list[tuple[str, int, int]]:
    """Name, section and offset of each."""
    found = []
    for header in headers:
        if header.kind != _SYMTAB:
            continue
        entry = 24 if is_64 else 16
        for at in range(header.offset, header.offset + header.size, entry):
            if is_64:
                name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, at)
            else:
                name, value, _, _, _, section = struct.unpack_from("<IIIBBH", data, at)
            start = headers[header.link].offset + name
            found.append((data[start : data.index(b"\0", start)].decode(), section, value))
    return found


def _relocations(
    data: bytes,
    table: _Header,
    contents: bytes,
    is_64: bool,
    machine: int,
    symbols: list[tuple[str, int, int]],
) -> list[Relocation]:
    entry = {(_REL, False): "<II", (_RELA, False): "<IIi", (_RELA, True): "<QQq"}.get(
        (table.kind, is_64)
    )
    if entry is None:
        raise ObjectError("has relocations of another kind")
    found = []
    for at in range(table.offset, table.offset + table.size, struct.calcsize(entry)):
        place, info, *rest = struct.unpack_from(entry, data, at)
        kind, symbol = (info & 0xFFFFFFFF, info >> 32) if is_64 else (info & 0xFF, info >> 8)
        if place + (8 if is_64 else 4) > len(contents):
            raise ObjectError(f"has an address at byte {place} of {len(contents)}")
        if kind != _ADDRESS[machine]:
            raise ObjectError(f"has a relocation of kind {kind}, not of an address")
        addend = rest[0] if rest else struct.unpack_from("<I", contents, place)[0]
        name, section, value = symbols[symbol]
        if section == _UNDEFINED:
            found.append(Relocation(place, None, name, addend))
        else:
            found.append(Relocation(place, section, name, value + addend))
    return found
