# SPDX-License-Identifier: Apache-2.0
"""Code sizes of kernels. An image contains each object file once, however often it is called."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection


@dataclass(frozen=True)
class CompiledObject:
    """An object file: a linker includes it completely or not at all.

    Attributes:
      defines: functions and tables for other files.
      needs: functions and tables of other files.
      bytes: of its code and constants.
    """

    defines: tuple[str, ...]
    needs: tuple[str, ...]
    bytes: int


def read_object(path: Path) -> CompiledObject:
    """Read an ELF object file."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        named = [s for s in table.iter_symbols() if s["st_info"]["bind"] != "STB_LOCAL"]
        loaded = (s for s in elf.iter_sections() if s["sh_flags"] & SH_FLAGS.SHF_ALLOC)
        # Unwind tables are in no image.
        kept = [s for s in loaded if not s.name.startswith((".ARM.", ".eh_frame"))]
        return CompiledObject(
            tuple(s.name for s in named if s["st_shndx"] != "SHN_UNDEF"),
            tuple(s.name for s in named if s["st_shndx"] == "SHN_UNDEF"),
            sum(s["sh_size"] for s in kept),
        )


class CodeSizes:
    """The object files of kernels, for one core."""

    def __init__(self, objects: Sequence[CompiledObject]) -> None:
        self._defined = {name: one for one in objects for name in one.defines}

    def of(self, functions: Iterable[str]) -> int:
        """Return the bytes that these functions add to an image; only kernels count."""
        linked: set[CompiledObject] = set()
        names = list(functions)
        while names:
            found = self._defined.get(names.pop())
            if found is not None and found not in linked:
                linked.add(found)
                names += found.needs
        return sum(one.bytes for one in linked)


def load_code_sizes(path: Path) -> CodeSizes:
    """Load the file from code_sizes.bzl."""
    return CodeSizes(
        [
            CompiledObject(tuple(one["defines"]), tuple(one["needs"]), one["bytes"])
            for one in json.loads(path.read_text())
        ]
    )
