# SPDX-License-Identifier: Apache-2.0
"""Reads what is needed of an ELF file for 32-bit Arm: sections and symbols."""

import bisect
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_SHT_SYMTAB = 2
_SHT_REL = 9
_SHT_NOBITS = 8
_SHF_ALLOC = 2
_STT_OBJECT = 1
_STT_FUNC = 2


class ElfError(Exception):
    """The file is no ELF file for 32-bit Arm."""


@dataclass(frozen=True)
class Section:
    """A section; `load` is where its contents are stored, equal to `address` unless copied."""

    name: str
    address: int
    load: int
    size: int
    allocated: bool
    stored: bool
    contents: bytes


@dataclass(frozen=True)
class Symbol:
    """A function or an object (the bit that marks Thumb code is not part of the address)."""

    name: str
    address: int
    size: int
    is_function: bool


@dataclass(frozen=True)
class Relocation:
    """A place that the linker filled in; `value` is that of the symbol it refers to."""

    address: int
    kind: int
    value: int


class Elf:
    """An ELF file, read whole."""

    def __init__(self, path: Path):
        """Reads the file.

        Raises:
            ElfError: not an ELF file for 32-bit little-endian Arm, or cut short.
        """
        self.path = path
        self._data = path.read_bytes()
        if self._data[:6] != b"\x7fELF\x01\x01" or self._data[18:20] != b"\x28\x00":
            raise ElfError(f"{path} is not an ELF file for 32-bit Arm")
        try:
            self._headers = self._read_headers()
            self._segments = self._read_segments()
        except struct.error as error:
            raise ElfError(f"{path} is cut short") from error

    def _read_headers(self) -> list[tuple[int, ...]]:
        (offset,) = struct.unpack_from("<I", self._data, 32)
        size, count, self._names = struct.unpack_from("<HHH", self._data, 46)
        return [struct.unpack_from("<10I", self._data, offset + i * size) for i in range(count)]

    def _read_segments(self) -> list[tuple[int, ...]]:
        (offset,) = struct.unpack_from("<I", self._data, 28)
        size, count = struct.unpack_from("<HH", self._data, 42)
        return [struct.unpack_from("<8I", self._data, offset + i * size) for i in range(count)]

    def _text(self, table: int, at: int) -> str:
        start = self._headers[table][4] + at
        return self._data[start : self._data.index(b"\0", start)].decode()

    def _load_address(self, address: int) -> int:
        # By what is in the file: a segment of stacks and zeros may lie around that of variables.
        for _, _, virtual, physical, stored, _, _, _ in self._segments:
            if virtual <= address < virtual + stored:
                return physical + address - virtual
        return address

    @cached_property
    def sections(self) -> list[Section]:
        """All sections but the empty one that stands first."""
        found = []
        for name, kind, flags, address, offset, size, *_ in self._headers[1:]:
            stored = kind != _SHT_NOBITS
            found.append(
                Section(
                    name=self._text(self._names, name),
                    address=address,
                    load=self._load_address(address),
                    size=size,
                    allocated=bool(flags & _SHF_ALLOC),
                    stored=stored,
                    contents=self._data[offset : offset + size] if stored else b"",
                )
            )
        return found

    @cached_property
    def _all_symbols(self) -> list[tuple[str, int, int, int, int]]:
        found = []
        for _, kind, _, _, offset, size, link, *_ in self._headers:
            if kind != _SHT_SYMTAB:
                continue
            for at in range(offset, offset + size, 16):
                name, value, length, info, _, section = struct.unpack_from(
                    "<IIIBBH", self._data, at
                )
                found.append((self._text(link, name), value, length, info & 0xF, section))
        return found

    @cached_property
    def relocations(self) -> list[Relocation]:
        """Relocations of what is loaded; there are any only after linking with --emit-relocs."""
        found = []
        for _, kind, _, _, offset, size, _, target, *_ in self._headers:
            if kind != _SHT_REL or not self._headers[target][2] & _SHF_ALLOC:
                continue
            for at in range(offset, offset + size, 8):
                address, info = struct.unpack_from("<II", self._data, at)
                value = self._all_symbols[info >> 8][1]
                found.append(Relocation(address, info & 0xFF, value))
        return found

    def word(self, address: int) -> int:
        """Returns the 32-bit word stored at an address.

        Raises:
            ElfError: nothing is stored there.
        """
        return self._stored(address, least=4)

    def instruction(self, address: int) -> int:
        """Returns the two halfwords at an address as a word. The second is 0 where a section ends
        with the first: an instruction of 16 bits may be the last.

        Raises:
            ElfError: nothing is stored there.
        """
        return self._stored(address, least=2)

    def _stored(self, address: int, least: int) -> int:
        for section in self.sections:
            at = address - section.address
            if section.allocated and section.stored and 0 <= at <= section.size - least:
                return int.from_bytes(section.contents[at : at + 4], "little")
        raise ElfError(f"{self.path} stores nothing at {address:#010x}")

    @cached_property
    def symbols(self) -> list[Symbol]:
        """Functions and objects, by address."""
        found = [
            Symbol(name, value & ~1 if kind == _STT_FUNC else value, size, kind == _STT_FUNC)
            for name, value, size, kind, section in self._all_symbols
            if kind in (_STT_OBJECT, _STT_FUNC) and section != 0
        ]
        return sorted(found, key=lambda symbol: (symbol.address, symbol.name))

    @property
    def addresses(self) -> dict[str, int]:
        """Of functions and objects, by name."""
        return {symbol.name: symbol.address for symbol in self.symbols}

    @cached_property
    def values(self) -> dict[str, int]:
        """Value of every named symbol, those of the linker script included."""
        return {name: value for name, value, _, _, section in self._all_symbols if section and name}

    @cached_property
    def _functions(self) -> tuple[list[int], list[Symbol]]:
        functions = [symbol for symbol in self.symbols if symbol.is_function]
        return [symbol.address for symbol in functions], functions

    def function(self, name: str) -> Symbol | None:
        """Returns the function of that name."""
        return next((f for f in self._functions[1] if f.name == name), None)

    def function_at(self, address: int) -> Symbol | None:
        """Returns the function that an address lies in.

        A function written in assembly may lack a size; it reaches to the next one.
        """
        starts, functions = self._functions
        index = bisect.bisect_right(starts, address) - 1
        if index < 0:
            return None
        found = functions[index]
        inside = address < found.address + found.size if found.size else index + 1 < len(functions)
        return found if inside else None
