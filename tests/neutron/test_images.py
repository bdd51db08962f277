# SPDX-License-Identifier: Apache-2.0
"""Images with delegates of a Neutron NPU, linked for the boards with one: checks of addresses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tools.simulator.elf import Elf

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Memory:
    """Memory of a board: start and end of its flash, the program's place in it, and its RAM."""

    flash: tuple[int, int]
    program: int
    ram: tuple[int, int]


MEMORIES = {
    "mimxrt700_evk": Memory((0x28000000, 0x2C000000), 0x28004000, (0x20000000, 0x20780000)),
    "frdm_mcxn947": Memory((0, 0x200000), 0, (0x20000000, 0x20068000)),
}


@pytest.fixture(params=MEMORIES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def stored(elf: Elf, address: int, size: int) -> bytes:
    """Return the bytes flashed to an address."""
    (section,) = [
        s for s in elf.sections if s.allocated and s.stored and s.load <= address < s.load + s.size
    ]
    at = address - section.load
    return bytes(section.contents[at : at + size])


def test_everything_lies_in_a_memory_of_the_board(name: str) -> None:
    elf, memory = Elf(FOLDER / f"{name}.elf"), MEMORIES[name]
    for section in elf.sections:
        if section.allocated and section.size:
            end = section.address + section.size
            where = [memory.flash, memory.ram, (0x04000000, 0x04018000)]
            assert any(a <= section.address and end <= b for a, b in where), section.name
        if section.allocated and section.stored and section.size:
            assert memory.flash[0] <= section.load < memory.flash[1], section.name


def test_the_vector_table_leads_the_program(name: str) -> None:
    elf, memory = Elf(FOLDER / f"{name}.elf"), MEMORIES[name]
    table = stored(elf, memory.program, 16 * 4)
    stack, reset = (int.from_bytes(table[at : at + 4], "little") for at in (0, 4))
    assert memory.ram[0] < stack <= memory.ram[1] and stack % 8 == 0
    (entry,) = [s for s in elf.symbols if s.address == reset & ~1 and s.is_function]
    assert reset & 1 and memory.program < entry.address < memory.flash[1]
    handlers = {int.from_bytes(table[at : at + 4], "little") for at in range(8, 64, 4)}
    assert all(h == 0 or (h & 1 and memory.program < h < memory.flash[1]) for h in handlers)


def test_the_rom_finds_its_block() -> None:
    elf = Elf(FOLDER / "mimxrt700_evk.elf")
    assert stored(elf, 0x28000000, 4) == b"FCFB"


def test_payloads_lie_in_flash_and_what_the_npu_writes_in_ram(name: str) -> None:
    elf, memory = Elf(FOLDER / f"{name}.elf"), MEMORIES[name]
    arenas = [s for s in elf.symbols if s.name.startswith(("arena_", "pl_shared_arena"))]
    assert arenas and all(s.address % 16 == 0 for s in arenas)
    image = b"".join(bytes(s.contents) for s in elf.sections if s.stored and s.allocated and s.size)
    assert image.count(b"\x6e\x4d\x43\x64") >= 2, "the magic number of two programs"
    start, end = memory.ram
    assert all(start <= s.address < end or s.address < 0x04018000 for s in arenas)
