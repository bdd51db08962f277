# SPDX-License-Identifier: Apache-2.0
"""Board-specific parts: memories, console and interrupts, on one board (PL_BOARD)."""

import os
from pathlib import Path

import pytest

from boards.board import load_board
from tools.simulator.simulate import Run, simulate

_NAME = os.environ["PL_BOARD"]
_BOARD = load_board(Path(f"boards/{_NAME}/{_NAME}.json"))


def _run(program: str) -> Run:
    return simulate(Path(f"boards/tests/{program}.{_NAME}.elf"), _BOARD, time_limit=120)


@pytest.mark.parametrize("program", ["irq", "memory"])
def test_it_ends_well(program: str) -> None:
    assert _run(program).problem == ""


def test_the_console_has_all_that_is_printed() -> None:
    run = _run("hello")
    assert run.problem == ""
    assert run.console.splitlines() == [
        "0 4294967295 -2147483648 -1",
        "0x0123cdef -12.34 0.005 2.147483647",
        "PL:STAT answers 42",
        "PL:PASS",
    ]


def test_a_fault_is_explained_with_its_place_in_the_source() -> None:
    problem = _run("fault").problem
    assert "deliberate_fault+0x0 (boards/tests/programs/fault.c:7)" in problem
