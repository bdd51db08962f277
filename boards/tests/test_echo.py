# SPDX-License-Identifier: Apache-2.0
"""Standard input: characters received by a board's console (PL_BOARD), and read by a program."""

import io
import os
from pathlib import Path

from boards.board import load_board
from tools.simulator.simulate import simulate

_NAME = os.environ["PL_BOARD"]
# More than the UART's FIFO holds, at most 16 bytes. That of b_l475e_iot01a has no FIFO; QEMU gives
# it one byte a second.
_TEXT = b"four." if _NAME == "b_l475e_iot01a" else b"more than 16 to keep."


class _Listener(io.StringIO):
    """Sends text only when the program listens."""

    def __init__(self, speak: int):
        super().__init__()
        self._speak = speak

    def write(self, text: str) -> int:
        before = self.getvalue()
        written = super().write(text)
        if "listening\n" in self.getvalue() and "listening\n" not in before:
            os.write(self._speak, _TEXT)
        return written


def test_standard_input_is_what_the_program_reads() -> None:
    listen, speak = os.pipe()
    before = os.dup(0)
    os.dup2(listen, 0)
    try:
        elf, board = Path(f"boards/tests/echo.{_NAME}.elf"), f"boards/{_NAME}/{_NAME}.json"
        run = simulate(elf, load_board(Path(board)), listen=True, echo=_Listener(speak))
    finally:
        os.dup2(before, 0)
        for descriptor in (listen, speak, before):
            os.close(descriptor)
    assert run.problem == ""
    assert run.console == f"listening\n{_TEXT.decode()}\nPL:PASS\n"
