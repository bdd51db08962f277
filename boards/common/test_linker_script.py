# SPDX-License-Identifier: Apache-2.0
"""Accepted and refused input of the linker script, tested with the linker."""

import dataclasses
from pathlib import Path

import pytest

from boards.board import Engine, Memory, Pool, load_board
from boards.common.testing import link
from tools.simulator.elf import Elf

_BOARD = load_board(Path("boards/microbit/microbit.json"))


def _link(folder: Path, source: str, *options: str) -> tuple[Elf | None, str]:
    return link(folder, _BOARD, {"program": source}, *options)


def _symbol_address(elf: Elf, name: str) -> int:
    return next(symbol.address for symbol in elf.symbols if symbol.name == name)


def test_each_thing_has_its_memory(tmp_path: Path) -> None:
    elf, messages = _link(
        tmp_path,
        """
        __attribute__((used)) const int constant[2] = {1, 2};
        __attribute__((used)) int variable = 3;
        __attribute__((used)) int zero;
        __attribute__((used)) int also_zero;
        __attribute__((used, section(".rodata.pl_weights.w"))) const char weights[5] = {1};
        __attribute__((used, section(".bss.pl_arena.ram"))) char arena[64];
        """,
    )
    assert elf is not None, messages
    flash, ram = _BOARD.memory("flash"), _BOARD.memory("ram")
    where = {s.name: _BOARD.memory_at(s.address).name for s in elf.symbols}
    assert where["constant"] == where["weights"] == flash.name
    assert where["variable"] == where["zero"] == where["arena"] == ram.name
    sections = {section.name: section for section in elf.sections}
    assert sections[".vectors"].address == flash.base
    assert _BOARD.memory_at(sections[".data"].load) == flash
    assert not sections[".bss.pl_arena.ram"].stored
    assert sections[".bss.pl_arena.ram"].size == 64
    assert sections[".bss"].size == 8
    # The stack is where it leaves the memory when it overflows.
    assert elf.values["pl_link_stack_limit"] == ram.base
    assert elf.values["pl_link_stack_top"] == ram.base + _BOARD.stack


@pytest.mark.parametrize("pool", ["ram", "more"])
def test_one_memory_has_the_arena_that_plans_share(tmp_path: Path, pool: str) -> None:
    engine = Engine("Test", "", ("flash", pool))
    board = dataclasses.replace(
        _BOARD,
        memories=(*_BOARD.memories, Memory("more", 0x30000000, 4096, "ram")),
        arena=(*_BOARD.arena, Pool("more", 4096)),
        engines=(engine,),
    )
    source = "__attribute__((used, common, aligned(16))) char pl_shared_arena[{}];"
    sources = {"one.plan": source.format(64), "other.plan": source.format(96)}
    elf, messages = link(tmp_path, board, sources)
    assert elf is not None, messages
    (arena,) = (symbol for symbol in elf.symbols if symbol.name == "pl_shared_arena")
    assert board.memory_at(arena.address).name == pool
    assert arena.size == 96


_HEADER = """
    __attribute__((used, section(".boot_header"))) const char header[{}] = {{1}};
    __attribute__((used)) const int constant = 1;
    """


def test_vectors_follow_the_boot_header(tmp_path: Path) -> None:
    board = dataclasses.replace(_BOARD, boot_header=512)
    elf, messages = link(tmp_path, board, {"program": _HEADER.format(512)})
    assert elf is not None, messages
    sections = {section.name: section for section in elf.sections}
    flash = _BOARD.memory("flash")
    assert sections[".boot_header"].address == flash.base
    assert sections[".vectors"].address == flash.base + 512


@pytest.mark.parametrize(
    ("size", "source"),
    [(256, ""), (256, _HEADER.format(255)), (512, _HEADER.format(256)), (0, _HEADER.format(256))],
)
def test_a_boot_header_of_another_size_stops_the_build(
    tmp_path: Path, size: int, source: str
) -> None:
    board = dataclasses.replace(_BOARD, boot_header=size)
    elf, messages = link(tmp_path, board, {"program": source})
    assert elf is None
    assert f"the boot header is not of the chip's {size} bytes" in messages


@pytest.mark.parametrize("form", ["IRQHandler", "Handler"])
def test_handlers_are_in_the_vector_table(tmp_path: Path, form: str) -> None:
    handlers = f"void SysTick_Handler(void) {{}} void TIMER0_{form}(void) {{}} int main;"
    elf, messages = _link(tmp_path, handlers)
    assert elf is not None, messages
    (table,) = (section for section in elf.sections if section.name == ".vectors")
    vectors = [int.from_bytes(table.contents[i : i + 4], "little") for i in range(0, table.size, 4)]
    irqs = _BOARD.irqs
    assert len(vectors) == 16 + max(irqs.values()) + 1
    address = {name: _symbol_address(elf, name) | 1 for name in ("SysTick_Handler", "pl_fault")}
    assert vectors[15] == address["SysTick_Handler"] != address["pl_fault"]
    assert vectors[16 + irqs["TIMER0"]] == _symbol_address(elf, f"TIMER0_{form}") | 1
    reserved = (8, 9, 10, 13)
    assert [vectors[i] for i in reserved] == [0, 0, 0, 0]
    defined = (15, 16 + irqs["TIMER0"])
    others = [v for i, v in enumerate(vectors[2:], 2) if i not in (*defined, *reserved)]
    assert set(others) == {address["pl_fault"]}


def test_a_table_of_addresses_is_data(tmp_path: Path) -> None:
    elf, messages = _link(
        tmp_path,
        "extern int other; int *get(void) { return &other; } int other = 5;",
        *("-fPIC", "-mno-pic-data-is-text-relative", "-msingle-pic-base"),
    )
    assert elf is not None, messages
    data = next(section for section in elf.sections if section.name == ".data")
    # The variable, and the table with its address.
    assert data.size >= 8
    assert _symbol_address(elf, "other").to_bytes(4, "little") in data.contents


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (
            '__attribute__((used, section(".surprise"))) const int x = 1;',
            "unplaced orphan section `.surprise'",
        ),
        (
            '__attribute__((used, section(".bss.pl_arena.ddr"))) char x[64];',
            "names none of the board's `arena` memories: ram",
        ),
    ],
)
def test_what_has_no_place_stops_the_build(tmp_path: Path, source: str, problem: str) -> None:
    elf, messages = _link(tmp_path, source)
    assert elf is None
    assert problem in messages
