# SPDX-License-Identifier: Apache-2.0
"""The files of an image, for a board with one memory for code and weights and one with two."""

import dataclasses
import json
from pathlib import Path

import pytest
from intelhex import IntelHex

from boards.board import BoardError, load_board
from tools.image.binary_files import StoredElsewhereError, contents, write_files
from tools.image.size_report import size_report, too_small_stacks
from tools.image.size_table import size_table
from tools.simulator.elf import Elf

_FOLDER = Path("boards/tests")
_OBJDUMP = Path("../arm_gnu_toolchain/bin/arm-none-eabi-objdump")
_IMAGES = {"corstone300": ("itcm", "qspi"), "microbit": ("flash", "flash")}


@pytest.mark.parametrize("board_name", _IMAGES)
def test_bin_and_hex_are_what_the_program_stores(board_name: str) -> None:
    code, weights = _IMAGES[board_name]
    board = load_board(Path(f"boards/{board_name}/{board_name}.json"))
    image = _FOLDER / f"image_{board_name}"
    elf = Elf(image.with_suffix(".elf"))
    files = {code: image.with_suffix(".bin").read_bytes()}
    if weights != code:
        files[weights] = image.with_suffix(f".{weights}.bin").read_bytes()

    vectors = files[code][:8]
    assert int.from_bytes(vectors[:4], "little") == elf.values["pl_link_handler_stack_top"]
    assert int.from_bytes(vectors[4:], "little") == elf.values["pl_reset"]
    assert bytes([1, 2, 3, 4, 5]) in files[weights]

    in_hex = IntelHex(str(image.with_suffix(".hex")))
    stored = {address: in_hex[address] for address in in_hex.addresses()}
    for name, data in files.items():
        base = board.memory(name).base
        inside = {a - base: byte for a, byte in stored.items() if 0 <= a - base < len(data)}
        assert all(data[at] == byte for at, byte in inside.items())
        # Addresses left out of the hex file read as erased flash.
        assert all(data[at] == 0xFF for at in range(len(data)) if at not in inside)
    assert len(stored) <= sum(map(len, files.values()))


@pytest.mark.parametrize("board_name", _IMAGES)
def test_sizes_add_up(board_name: str) -> None:
    report = json.loads((_FOLDER / f"image_{board_name}.size.json").read_text())
    for memory in report["memories"]:
        sizes = [
            section["size"]
            for section in report["sections"]
            for place in {section["memory"], section["stored_in"]} - {None}
            if place == memory["name"]
        ]
        assert memory["used"] == sum(sizes) <= memory["size"]
        assert sum(memory["by_origin"].values()) <= memory["used"]
    flash = [memory for memory in report["memories"] if memory["kind"] == "flash"]
    unexplained = sum(m["used"] - sum(m["by_origin"].values()) for m in flash)
    assert unexplained < 32, "only gaps are nobody's"
    origins = {origin for memory in flash for origin in memory["by_origin"]}
    assert {"boards/common", "boards/tests/programs", "libc.a"} <= origins
    for memory in flash:
        for origin, total in memory["by_origin"].items():
            stored = [s for s in report["symbols"] if s["stored_in"] == memory["name"]]
            assert sum(s["size"] for s in stored if s["origin"] == origin) <= total
    assert "stack: at most" in size_table(report)


def test_bytes_with_several_names_are_counted_once() -> None:
    """Example: libgcc's float functions. One is part of another, and each has two names."""
    image = _FOLDER / "image_microbit"
    board = load_board(Path("boards/microbit/microbit.json"))
    elf, link_map = Elf(image.with_suffix(".elf")), image.with_suffix(".map").read_text()
    before = size_report(board, elf, link_map, _OBJDUMP)["symbols"]
    (largest,) = [s for s in elf.symbols if s.name == before[0]["name"]]
    again = dataclasses.replace(largest, name=f"{largest.name}_again")
    end = dataclasses.replace(
        largest, name="a_part", address=largest.address + 8, size=largest.size - 8
    )
    elf.__dict__["symbols"] = [end, again, *elf.symbols]
    assert size_report(board, elf, link_map, _OBJDUMP)["symbols"] == before


def test_a_stack_that_is_too_small_is_reported() -> None:
    image = _FOLDER / "image_microbit"
    board = load_board(Path("boards/microbit/microbit.json"))
    elf, link_map = Elf(image.with_suffix(".elf")), image.with_suffix(".map").read_text()
    assert too_small_stacks(size_report(board, elf, link_map, _OBJDUMP)) == []
    small = size_report(dataclasses.replace(board, stack=64), elf, link_map, _OBJDUMP)
    (problem,) = too_small_stacks(small)
    assert "the stack may take" in problem
    assert "the board microbit gives it 64; firmware_image(stack = " in problem
    assert " gives it enough\n  pl_start > main > " in problem


def test_the_artefacts_of_the_models_are_beside_the_image() -> None:
    assert (_FOLDER / "image_microbit.sample.pte").read_text() == "not really\n"


def test_what_is_stored_where_no_file_is_asked_for(tmp_path: Path) -> None:
    board = load_board(Path("boards/corstone300/corstone300.json"))
    elf = Elf(_FOLDER / "image_corstone300.elf")
    assert contents(board, elf).keys() == {"itcm", "qspi"}
    with pytest.raises(StoredElsewhereError, match="has data in qspi"):
        write_files(board, elf, {"itcm": tmp_path / "itcm.bin"})


def test_an_address_without_memory() -> None:
    board = load_board(Path("boards/microbit/microbit.json"))
    with pytest.raises(BoardError, match="microbit: it has no memory at 0x10000000"):
        board.memory_at(0x10000000)
    with pytest.raises(BoardError, match="microbit: it has no memory 'ddr'"):
        board.memory("ddr")


@pytest.mark.parametrize("text", ["", "{}", '{"name": "x", "memories": 3}'])
def test_a_file_that_describes_no_board(tmp_path: Path, text: str) -> None:
    file = tmp_path / "board.json"
    file.write_text(text)
    with pytest.raises(BoardError, match="does not describe a board"):
        load_board(file)
