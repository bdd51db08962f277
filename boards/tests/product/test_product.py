# SPDX-License-Identifier: Apache-2.0
"""A program in C++, with a vendor's code, a heap and stdio, in images with sizes of their own."""

import json
import os
from pathlib import Path

import pytest

from boards.board import Board, load_board
from tools.simulator.simulate import Run, simulate

_FOLDER = Path("boards/tests/product")


def _board(name: str) -> Board:
    return load_board(Path(f"boards/{name}/{name}.json"))


def _run(program: str, board: str) -> Run:
    listen, speak = os.pipe()
    before = os.dup(0)
    os.dup2(listen, 0)
    try:
        os.write(speak, b"ok\n")
        return simulate(_FOLDER / f"{program}_{board}.elf", _board(board), listen=True)
    finally:
        os.dup2(before, 0)
        for descriptor in (listen, speak, before):
            os.close(descriptor)


@pytest.mark.parametrize(
    ("program", "board", "size"), [("large", "corstone300", 262144), ("small", "microbit", 3072)]
)
def test_it_runs(program: str, board: str, size: int) -> None:
    run = _run(program, board)
    assert run.problem == ""
    assert run.console.splitlines()[0] == f"-3 four 5.500, {size} bytes"


def test_an_assertion_that_does_not_hold_ends_the_program() -> None:
    run = _run("asserts", "corstone300")
    assert run.exit_status == 1
    assert run.problem.startswith("PL:FAIL boards/tests/product/product.cc:")
    assert run.problem.endswith("assertion failed: buffer[1] == 2")


def test_sizes_are_the_images() -> None:
    board = _board("microbit")
    assert (board.stack, board.handler_stack, board.variables, board.heap) == (
        *(3072, 144, 6144, 2048),
    )
    assert board.arena[0].bytes == 16384 - 3072 - 144 - 6144 - 2048
    report = json.loads((_FOLDER / "small_microbit.size.json").read_text())
    sections = {section["name"]: section["size"] for section in report["sections"]}
    assert sections[".pl_stacks"] == 3072 + 144
    assert sections[".pl_heap"] == 2048
    assert sections[".bss"] > 3072
