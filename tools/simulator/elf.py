# SPDX-License-Identifier: Apache-2.0
"""Reader of the sections and symbols of a 32-bit Arm ELF file."""

import bisect
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection


class ElfError(Exception):
    """The file is no ELF file for 32-bit Arm."""


@dataclass(frozen=True)
class ElfSection:
    """A section; `load` is where its contents are stored, equal to `address` unless copied."""

    name: str
    address: int
    load: int
    size: int
    allocated: bool
    stored: bool
    contents: bytes


@dataclass(frozen=True)
class ElfSymbol:
    """Function or object (its address excludes the Thumb bit)."""

    name: str
    address: int
    size: int
    is_function: bool


@dataclass(frozen=True)
class Relocation:
    """Location filled in by the linker; `value` is the value of its symbol."""

    address: int
    kind: int
    value: int


class Elf:
    """An ELF file, read whole."""

    def __init__(self, path: Path):
        """Read the file.

        Raises:
            ElfError: not an ELF file for 32-bit little-endian Arm, or cut short.
        """
        self.path = path
        data = path.read_bytes()
        if data[:6] != b"\x7fELF\x01\x01" or data[18:20] != b"\x28\x00":
            raise ElfError(f"{path} is not an ELF file for 32-bit Arm")
        try:
            file = ELFFile(io.BytesIO(data))
            self._sections = list(file.iter_sections())
            self._segments = [segment.header for segment in file.iter_segments()]
        except ELFError as error:
            raise ElfError(f"{path} is truncated") from error

    def _load_address(self, address: int) -> int:
        # Search by the bytes in the file: a segment of stacks and zeros may enclose that of
        # variables.
        for segment in self._segments:
            if 0 <= address - segment["p_vaddr"] < segment["p_filesz"]:
                return address + int(segment["p_paddr"] - segment["p_vaddr"])
        return address

    @cached_property
    def sections(self) -> list[ElfSection]:
        """Return all sections except the empty first one."""
        found = []
        for section in self._sections[1:]:
            stored = section["sh_type"] != "SHT_NOBITS"
            found.append(
                ElfSection(
                    name=section.name,
                    address=section["sh_addr"],
                    load=self._load_address(section["sh_addr"]),
                    size=section["sh_size"],
                    allocated=bool(section["sh_flags"] & SH_FLAGS.SHF_ALLOC),
                    stored=stored,
                    contents=section.data() if stored else b"",
                )
            )
        return found

    @cached_property
    def _all_symbols(self) -> list[tuple[str, int, int, str, str | int]]:
        return [
            (s.name, s["st_value"], s["st_size"], s["st_info"]["type"], s["st_shndx"])
            for table in self._sections
            if isinstance(table, SymbolTableSection)
            for s in table.iter_symbols()
        ]

    @cached_property
    def relocations(self) -> list[Relocation]:
        """Return the relocations of loaded sections; they only exist after linking with
        --emit-relocs.
        """
        found = []
        for table in self._sections:
            if not isinstance(table, RelocationSection):
                continue
            if self._sections[table["sh_info"]]["sh_flags"] & SH_FLAGS.SHF_ALLOC:
                for one in table.iter_relocations():
                    value = self._all_symbols[one["r_info_sym"]][1]
                    found.append(Relocation(one["r_offset"], one["r_info_type"], value))
        return found

    def word(self, address: int) -> int:
        """Return the 32-bit word stored at an address.

        Raises:
            ElfError: nothing is stored there.
        """
        return self._stored(address, least=4)

    def instruction(self, address: int) -> int:
        """Return the two halfwords at an address as a word. The second is 0 where a section ends
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
        raise ElfError(f"{self.path} has no data at {address:#010x}")

    @cached_property
    def symbols(self) -> list[ElfSymbol]:
        """Functions and objects, by address."""
        found = [
            ElfSymbol(name, value & ~1 if kind == "STT_FUNC" else value, size, kind == "STT_FUNC")
            for name, value, size, kind, section in self._all_symbols
            if kind in ("STT_OBJECT", "STT_FUNC") and section != "SHN_UNDEF"
        ]
        return sorted(found, key=lambda symbol: (symbol.address, symbol.name))

    @property
    def addresses(self) -> dict[str, int]:
        """Return the addresses of functions and objects, by name."""
        return {symbol.name: symbol.address for symbol in self.symbols}

    @cached_property
    def values(self) -> dict[str, int]:
        """Value of every named symbol, those of the linker script included."""
        return {
            name: value
            for name, value, _, _, section in self._all_symbols
            if section != "SHN_UNDEF" and name
        }

    @cached_property
    def _functions(self) -> tuple[list[int], list[ElfSymbol]]:
        functions = [symbol for symbol in self.symbols if symbol.is_function]
        return [symbol.address for symbol in functions], functions

    def function(self, name: str) -> ElfSymbol | None:
        """Return the function with this name."""
        return next((f for f in self._functions[1] if f.name == name), None)

    def function_at(self, address: int) -> ElfSymbol | None:
        """Return the function containing an address.

        A function written in assembly may lack a size; it reaches to the next one.
        """
        starts, functions = self._functions
        index = bisect.bisect_right(starts, address) - 1
        if index < 0:
            return None
        found = functions[index]
        inside = address < found.address + found.size if found.size else index + 1 < len(functions)
        return found if inside else None
