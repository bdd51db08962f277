# SPDX-License-Identifier: Apache-2.0
"""A board with a fake of its flash memory's controller, and on it the program of on_flash.c."""

from pathlib import Path
from typing import Protocol

from boards.board import load_board
from boards.tests.not_simulated.machine import Machine, Read
from boards.tests.not_simulated.uarts import Line
from tools.simulator.elf import Elf

_RESET = 0xE000ED0C


class Flash(Protocol):
    """A fake of a controller."""

    erased: int
    """Number of erased sectors."""
    written: int
    """Number of written units."""

    def reads(self) -> dict[int, Read]:
        """Return the read values of its registers."""

    def attach(self, machine: Machine) -> None:
        """Observe writes to its registers and to the memory."""


class Chip:
    """`board`, the image `on_<name>`, and the rest of the chip's registers where start-up waits
    for them.
    """

    def __init__(self, name: str, board: str, flash: Flash, reads: dict[int, Read] | None = None):
        data = load_board(Path(f"boards/{board}/{board}.json"))
        self.elf = Elf(Path(f"firmware/slot/testing/on_{name}.elf"))
        (kind,) = (one.partition(":")[2] for one in data.startup if ":console_" in one)
        self.line = Line(kind, data.console.base)
        self.machine = Machine(data, {**self.line.reads(), **(reads or {}), **flash.reads()})
        self.line.listen(self.machine)
        flash.attach(self.machine)
        self.resets = 0
        others = self.machine.written

        def written(address: int, value: int) -> None:
            others(address, value)
            if address == _RESET:
                self.resets += 1
                self.machine.stop()

        self.machine.written = written
        self.vectors = data.memory(data.code).base + data.boot_header
        self.machine.load(self.elf)

    def start(self) -> None:
        """Run until the program ends, or resets the chip."""
        self.machine.start(self.vectors, most=0)


def check_update(chip: Chip, flash: Flash) -> None:
    """Check a first model, then an update interrupted by a chip reset and resumed."""
    chip.start()
    assert (chip.resets, chip.machine.ended) == (1, False), chip.line.sent
    check_rest_of_update(chip)
    assert flash.erased > 0 and flash.written > 100


def check_rest_of_update(chip: Chip) -> None:
    """Check the state after the reset."""
    chip.start()
    assert chip.machine.ended
    assert chip.line.sent.endswith(b"PL:PASS\n"), chip.line.sent
