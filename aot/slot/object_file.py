# SPDX-License-Identifier: Apache-2.0
"""Reads ELF object files: data and relocations."""

import io
from collections.abc import Iterator
from dataclasses import dataclass

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Symbol, SymbolTableSection

from tools.text.malformed import malformed

_MOST_ALIGNMENT = 4096

# Relocations that put an address into data: R_ARM_ABS32, R_X86_64_64.
_ADDRESS = {"EM_ARM": 2, "EM_X86_64": 1}


class ObjectError(ValueError):
    """The file is not an object file of a plan. The text has the reason."""


@dataclass(frozen=True)
class ObjectRelocation:
    """A relocation at `place`: address of byte `addend` of a section, or of the symbol `name`."""

    place: int
    section: int | None
    name: str
    addend: int


@dataclass(frozen=True)
class ObjectSection:
    """A section with data."""

    number: int
    name: str
    alignment: int
    contents: bytes
    relocations: tuple[ObjectRelocation, ...]


@dataclass(frozen=True)
class ObjectFile:
    """Attributes:
    word: bytes of an address.
    sections: all with data.
    symbols: by name, where it is: number of a section, offset.
    """

    word: int
    sections: tuple[ObjectSection, ...]
    symbols: dict[str, tuple[int, int]]


def read_object(data: bytes) -> ObjectFile:
    """Read an object file for 32-bit Arm or for x86-64.

    Raises:
      ObjectError: it is something else, or damaged.
    """
    with malformed(ObjectError, "the object file"):
        try:
            return _read(ELFFile(io.BytesIO(data)))
        except ELFError as error:
            raise ObjectError(f"is not an object file, or is damaged: {error}") from error


def _read(file: ELFFile) -> ObjectFile:
    machine = file["e_machine"]
    if file["e_type"] != "ET_REL" or machine not in _ADDRESS or not file.little_endian:
        raise ObjectError("is not an object file for Arm or x86-64")
    word = file.elfclass // 8
    parts = list(file.iter_sections())
    symbols = [
        symbol
        for part in parts
        if isinstance(part, SymbolTableSection)
        for symbol in part.iter_symbols()
    ]
    sections = []
    for number, part in enumerate(parts):
        flags, size = part["sh_flags"], part["sh_size"]
        if not flags & SH_FLAGS.SHF_ALLOC or flags & SH_FLAGS.SHF_EXECINSTR or size == 0:
            continue
        if part.name.startswith((".ARM", ".eh_frame", ".note")):
            continue
        if part["sh_type"] == "SHT_NOBITS":
            raise ObjectError(f"has variables in {part.name}")
        contents = part.data()
        if len(contents) < size or part["sh_addralign"] > _MOST_ALIGNMENT:
            raise ObjectError(f"has a damaged section {part.name}: {size} bytes")
        relocations = [
            relocation
            for table in parts
            if isinstance(table, RelocationSection) and table["sh_info"] == number
            for relocation in _relocations(table, contents, word, _ADDRESS[machine], symbols)
        ]
        alignment = max(part["sh_addralign"], 1)
        sections.append(ObjectSection(number, part.name, alignment, contents, tuple(relocations)))
    found = {
        symbol.name: (symbol["st_shndx"], symbol["st_value"])
        for symbol in symbols
        if symbol.name and isinstance(symbol["st_shndx"], int)
    }
    return ObjectFile(word, tuple(sections), found)


def _relocations(
    table: RelocationSection, contents: bytes, word: int, address: int, symbols: list[Symbol]
) -> Iterator[ObjectRelocation]:
    for one in table.iter_relocations():
        place, kind = one["r_offset"], one["r_info_type"]
        if place + word > len(contents):
            raise ObjectError(
                f"has a relocation at byte {place}, beyond its section of {len(contents)} bytes"
            )
        if kind != address:
            raise ObjectError(f"has a relocation of kind {kind}; only addresses are supported")
        stored = int.from_bytes(contents[place : place + word], "little")
        addend = one["r_addend"] if table.is_RELA() else stored
        symbol = symbols[one["r_info_sym"]]
        section, name = symbol["st_shndx"], symbol.name
        if section == "SHN_UNDEF":
            yield ObjectRelocation(place, None, name, addend)
        elif isinstance(section, int):
            yield ObjectRelocation(place, section, name, symbol["st_value"] + addend)
        else:
            raise ObjectError(f"refers to {name}, which is in no section")
