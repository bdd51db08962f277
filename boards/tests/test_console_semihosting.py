# SPDX-License-Identifier: Apache-2.0
"""A console by semihosting: the simulator shows the program's text, and the UART shows none."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from boards.board import load_board
from tools.simulator.simulate import Tools, qemu_command, simulate


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


def test_a_program_reads_what_is_typed() -> None:
    listen, speak = os.pipe()
    before = os.dup(0)
    os.dup2(listen, 0)
    try:
        os.write(speak, b"good morning.")
        board = load_board(Path("boards/mps2_an386/mps2_an386.json"))
        elf = Path("boards/tests/semihosting_echo.elf")
        run = simulate(elf, board, listen=True)
    finally:
        os.dup2(before, 0)
        for descriptor in (listen, speak, before):
            os.close(descriptor)
    assert run.problem == ""
    assert run.console == "listening\ngood morning.\nPL:PASS\n"
