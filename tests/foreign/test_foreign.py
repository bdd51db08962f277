# SPDX-License-Identifier: Apache-2.0
"""A plan in foreign firmware, linked with a script that knows no plans. Its weights are in flash,
its arena takes no flash, and the runtime finds it.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tools.simulator.elf import Elf, ElfSection

_TOOLS = Path("../arm_gnu_toolchain/bin")

# GCC finds its parts relative to its real path.
_GCC = (_TOOLS / "arm-none-eabi-gcc").resolve()
_READELF = _TOOLS / "arm-none-eabi-readelf"
_ARCHIVES = os.environ["PL_ARCHIVES"].split()
_FLASH, _RAM = 0x08000000, 0x20000000


@pytest.fixture(scope="module", params=["", "pl_arenas : { *(pl_arenas) } > FLASH"])
def elf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Elf:
    """Return the program, linked with the unchanged script, and with one that places the table."""
    folder = tmp_path_factory.mktemp("foreign")
    program, script = folder / "program.elf", folder / "foreign.ld"
    text = Path("tests/foreign/foreign.ld").read_text()
    script.write_text(text.replace("  .data : {", f"  {request.param}\n\n  .data : {{"))
    subprocess.run(
        [
            *(str(_GCC), "-mthumb", "-mcpu=cortex-m3", "-nostartfiles", "-Wl,--gc-sections"),
            *("-Wl,--fatal-warnings", "-T", str(script), "-Wl,--start-group"),
            *(*_ARCHIVES, "-Wl,--end-group", "-o", str(program)),
        ],
        check=True,
    )
    return Elf(program)


def _section_of(elf: Elf, name: str) -> ElfSection:
    symbol = next(symbol for symbol in elf.symbols if symbol.name == name)
    (section,) = (
        section
        for section in elf.sections
        if section.allocated and 0 <= symbol.address - section.address < section.size
    )
    return section


def test_the_plans_object_stores_nothing_for_the_arena() -> None:
    (plan,) = (archive for archive in _ARCHIVES if "/libdigits.library" in archive)
    done = subprocess.run([_READELF, "-SsW", plan], capture_output=True, text=True, check=True)
    assert re.findall(r"OBJECT +GLOBAL +DEFAULT +COM (\S+)", done.stdout) == ["pl_shared_arena"]
    assert re.findall(r"\] (\S*pl_arena\.\S*)", done.stdout) == []


def test_the_arena_takes_no_flash(elf: Elf) -> None:
    arena = _section_of(elf, "pl_shared_arena")
    assert (arena.name, arena.stored) == (".bss", False)
    assert arena.size >= 1000
    in_flash = [section for section in elf.sections if section.allocated and section.stored]
    assert all(section.address + section.size <= _RAM for section in in_flash if section.size)


def test_weights_are_in_flash(elf: Elf) -> None:
    weights = _section_of(elf, "constant_0")
    assert weights.name == ".rodata"
    assert _FLASH <= weights.load < _RAM


def test_the_runtime_knows_the_arena(elf: Elf) -> None:
    start, stop = (elf.values[f"__{end}_pl_arenas"] for end in ("start", "stop"))
    assert _FLASH <= start < _RAM
    (arena,) = (symbol for symbol in elf.symbols if symbol.name == "pl_shared_arena")
    assert stop - start == 8  # one pl_arena
    assert (elf.word(start), elf.word(start + 4)) == (arena.address, arena.size)
