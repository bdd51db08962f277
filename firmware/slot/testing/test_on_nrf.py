# SPDX-License-Identifier: Apache-2.0
"""Slots in the flash of a micro:bit, by the driver of its controller."""

from pathlib import Path

from boards.board import load_board
from tools.simulator.simulate import simulate


def test_an_update_goes_on_after_a_reset() -> None:
    board = load_board(Path("boards/microbit/microbit.json"))
    run = simulate(Path("firmware/slot/testing/on_nrf.elf"), board)
    assert run.problem == "", run.console
