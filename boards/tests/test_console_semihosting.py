# SPDX-License-Identifier: Apache-2.0
"""A console by semihosting: the simulator's text is that of the program, the UART's is not."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from boards.board import load_board
from boards.simulator.simulate import Tools, qemu_command, simulate


@pytest.mark.parametrize("name", os.environ["BOARDS"].split())
def test_text_comes_by_semihosting_alone(name: str) -> None:
    elf = Path(f"boards/tests/semihosting_{name}.elf")
    board = load_board(Path(f"boards/{name}/{name}.json"))
    assert board.console.kind == "semihosting"
    run = simulate(elf, board)
    assert run.problem == ""
    assert run.console.startswith("0 4294967295 -2147483648 -1\n")
    assert run.console.endswith("PL:STAT answers 42\nPL:PASS\n")

    with_uart = replace(board, console=replace(board.console, kind="uart"))
    command = qemu_command(elf, with_uart, Tools.of_build())
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == ""  # QEMU's standard error has it then
    assert done.stderr == run.console
