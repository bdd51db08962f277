# SPDX-License-Identifier: Apache-2.0
"""Reports for programs too large for their board, tested with the linker."""

import dataclasses
import re
from pathlib import Path

import pytest

from boards.board import Board, Memory, load_board
from boards.common.testing import link
from tools.image.fit import does_not_fit

_MICROBIT = load_board(Path("boards/microbit/microbit.json"))
_CORSTONE = load_board(Path("boards/corstone300/corstone300.json"))

_IN_ARENA = '__attribute__((used, section(".bss.pl_arena.{}"))) static char '

# Flash with neighbours on both sides: excess content would lie in the next memory.
_CROWDED = dataclasses.replace(
    _MICROBIT,
    memories=(
        Memory("flash", 0, 4096, "flash"),
        Memory("more", 4096, 4096, "flash"),
        Memory("ram", 0x20000000, 16384, "ram"),
    ),
    weights="more",
)


def _check(folder: Path, board: Board, **sources: str) -> str:
    elf, messages = link(folder, board, sources)
    assert elf is not None, messages
    return does_not_fit("app", board, elf, (folder / "program.map").read_text())


def _need(text: str) -> int:
    need, have, missing = (
        int(re.search(rf"^  {word} +([\d,]+) bytes$", text, re.M)[1].replace(",", ""))  # type: ignore[index]
        for word in ("need", "have", "missing")
    )
    assert need - have == missing > 0
    return need


@pytest.mark.parametrize(
    "source",
    [
        "",
        "__attribute__((used)) char x[512];",
        "__attribute__((used)) char x[496]; __attribute__((used)) char y = 1;",
        # All of the RAM: stacks of 2,176 bytes, and the rest for arenas and variables.
        _IN_ARENA.format("ram") + "a[16384 - 2176 - 512]; __attribute__((used)) char x[512];",
        _IN_ARENA.format("ram") + "a[1024]; __attribute__((used)) char x[16384 - 2176 - 1024];",
        "__attribute__((used)) const char x[256 * 1024 - 268] = {1};",
    ],
)
def test_what_fits(tmp_path: Path, source: str) -> None:
    assert _check(tmp_path, _MICROBIT, app=source) == ""


def test_a_large_buffer_beside_a_large_arena(tmp_path: Path) -> None:
    # The largest allowed plans, a buffer twice as large as the remaining space, and a heap.
    board = dataclasses.replace(_CORSTONE, heap=1024)
    arena = _IN_ARENA.format("dtcm") + f"arena[{512 * 1024 - 4096 - 4096 - 256}];"
    text = _check(
        tmp_path,
        board,
        app=arena + "__attribute__((used)) char buffer[8192]; __attribute__((used)) int one = 1;",
    )
    assert text.splitlines() == [
        "app does not fit on corstone300: dtcm is too small.",
        "  need       529,424 bytes",
        "  have       524,288 bytes",
        "  missing    5,136 bytes",
        "  largest 1  515,840 bytes  .bss.pl_arena.dtcm of app",
        "  largest 2  8,192 bytes  .bss.buffer of app",
        "  largest 3  4,352 bytes  `stack` and `handler_stack`",
        "  largest 4  1,024 bytes  `heap`",
        "  largest 5  4 bytes  .data.one of app",
        "Variables take 8,208 bytes, plans leave 4,096 to them: with `variables = 8208` of the",
        "firmware_image they are made for what is left, and may take another memory. A buffer may",
        'lie elsewhere too, in a section ".bss.pl_arena.<memory>": its contents start undefined.',
    ]


def test_arenas_that_fit_one_by_one(tmp_path: Path) -> None:
    arena = _IN_ARENA.format("ram") + "arena[{}];"
    sizes = {"a": 5120, "b": 4096, "c": 4096, "d": 3072}
    sources = {name: arena.format(size) for name, size in sizes.items()}
    for name, source in sources.items():
        folder = tmp_path / name
        folder.mkdir()
        assert _check(folder, _MICROBIT, **{name: source}) == ""
    text = _check(tmp_path, _MICROBIT, **sources)
    assert text.startswith("app does not fit on microbit: ram is too small.\n")
    assert _need(text) == sum(sizes.values()) + 2176
    rows = re.findall(r"^  largest \d +([\d,]+) bytes  (.+)$", text, re.M)
    assert rows == [
        *((f"{size:,}", f".bss.pl_arena.ram of {name}") for name, size in sizes.items()),
        ("2,176", "`stack` and `handler_stack`"),
    ]
    assert "or let more of them share an arena" in text


@pytest.mark.parametrize(
    ("source", "largest"),
    [
        ("const char x[4800] = {1};", r"4,800 bytes  \.rodata\.x of app"),
        # Initial values of variables are stored too.
        ("const char y[3800] = {1}; char z[400] = {1};", r"400 bytes  \.data\.z of app"),
    ],
)
def test_code_that_is_too_large(tmp_path: Path, source: str, largest: str) -> None:
    source = re.sub("(const )?char", r"__attribute__((used)) \g<0>", source)
    text = _check(tmp_path, _CROWDED, app=source)
    assert text.startswith("app does not fit on microbit: flash is too small.\n")
    assert re.search(largest, text)
    assert 4096 < _need(text) < 5100
    assert "another memory for `weights`" in text


def test_everything_that_is_too_small_is_said(tmp_path: Path) -> None:
    weights = '__attribute__((used, section(".rodata.pl_weights"))) const char w[5000] = {1};'
    text = _check(
        tmp_path,
        _CROWDED,
        app=weights + _IN_ARENA.format("ram") + "a[14000]; __attribute__((used)) char v[300];",
    )
    titles = re.findall(r"^app does not fit on microbit: (.*)\.$", text, re.M)
    assert titles == ["more is too small", "ram is too small"]
