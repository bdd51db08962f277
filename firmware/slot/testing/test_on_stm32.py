# SPDX-License-Identifier: Apache-2.0
"""Slots in the flash of STM32F4 and STM32L4, by the drivers, on fakes of the controllers."""

from pathlib import Path

import pytest

from boards.board import load_board
from boards.simulator.elf import Elf
from boards.tests.not_simulated.machine import Machine
from boards.tests.not_simulated.uarts import Line
from firmware.slot.testing.fake_flash import STM32F4, STM32L4, FakeFlash

_RESET = 0xE000ED0C
_ON = 0x705  # caches and prefetch, as with the highest clock
_ECCR = 0x40022018

_BOARDS = {
    "stm32f4": ("netduinoplus2", STM32F4),
    "stm32l4": ("b_l475e_iot01a", STM32L4),
}


class _Chip:
    """A board with a fake of its flash memory's controller."""

    def __init__(self, name: str, caches: int = _ON):
        board_name, controller = _BOARDS[name]
        board = load_board(Path(f"boards/{board_name}/{board_name}.json"))
        self.elf = Elf(Path(f"firmware/slot/testing/on_{name}.elf"))
        (kind,) = (one.partition(":")[2] for one in board.startup if ":console_" in one)
        self.line = Line(kind, board.console.base)
        self.flash = FakeFlash(controller, caches)
        self.machine = Machine(board, {**self.line.reads(), **self.flash.reads()})
        self.line.listen(self.machine)
        self.flash.attach(self.machine)
        self.resets = 0
        others = self.machine.written

        def written(address: int, value: int) -> None:
            others(address, value)
            if address == _RESET:
                self.resets += 1
                self.machine.stop()

        self.machine.written = written
        self.vectors = board.memory(board.code).base
        self.machine.load(self.elf)

    def start(self) -> None:
        """Runs until the program ends, or resets the chip."""
        self.machine.start(self.vectors, most=0)


@pytest.mark.parametrize("caches", [0, _ON])
@pytest.mark.parametrize("name", _BOARDS)
def test_an_update_goes_on_after_a_reset(name: str, caches: int) -> None:
    chip = _Chip(name, caches)
    chip.start()
    assert (chip.resets, chip.machine.ended) == (1, False), chip.line.sent
    chip.start()
    assert chip.machine.ended
    assert chip.line.sent.endswith(b"PL:PASS\n"), chip.line.sent
    assert chip.flash.erased > 0 and chip.flash.written > 1000
    assert chip.flash.access == caches


@pytest.mark.parametrize(("name", "sector"), [("stm32f4", 0x08080000), ("stm32l4", 0x0807C000)])
def test_a_sector_that_is_not_erased_is_an_error(name: str, sector: int) -> None:
    chip = _Chip(name)
    before = b"not ours"
    chip.machine.store(sector, before)
    chip.flash.protected.add(sector)
    chip.start()
    assert chip.machine.ended
    assert chip.line.sent.splitlines()[-1].startswith(b"PL:FAIL"), chip.line.sent
    assert chip.machine.memory(sector, len(before)) == before


def test_a_read_of_a_torn_double_word_passes() -> None:
    """Its NMI ends when the controller's note of it is taken back, which is by writing it."""
    chip = _Chip("stm32l4")
    chip.start()
    noted = 1 << 31 | 0x1234
    chip.machine.registers[_ECCR] = noted
    chip.machine.call(chip.elf.values["NMI_Handler"], chip.vectors)
    assert not chip.machine.ended
    assert chip.machine.registers[_ECCR] == noted
    # Another reason ends the program.
    chip.machine.registers[_ECCR] = 0
    chip.machine.call(chip.elf.values["NMI_Handler"], chip.vectors)
    assert chip.machine.ended
