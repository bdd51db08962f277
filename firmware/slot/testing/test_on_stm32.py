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


# Of ECCR, by RM0351, 3.7.7: what it notes, and where; ECCIE, which is no note.
_TWO_BITS, _ONE_BIT, _ENABLED, _SYSTEM, _SECOND_BANK = 1 << 31, 1 << 30, 1 << 24, 1 << 20, 1 << 19


def _nmi(eccr: int) -> _Chip:
    chip = _Chip("stm32l4")
    chip.start()
    chip.machine.registers[_ECCR] = eccr
    chip.machine.call(chip.elf.values["NMI_Handler"], chip.vectors)
    return chip


# Slots have 16 KB at the end of the first bank, and 16 KB at the start of the second.
@pytest.mark.parametrize("place", [0x7C000, 0x7FFF8, _SECOND_BANK, _SECOND_BANK | 0x3FF8])
def test_a_read_of_a_torn_double_word_passes(place: int) -> None:
    """Its NMI ends when the controller's note of it is taken back, which is by writing it; a note
    of a bit that was corrected stays.
    """
    chip = _nmi(_TWO_BITS | _ONE_BIT | _ENABLED | place)
    assert not chip.machine.ended
    assert chip.machine.registers[_ECCR] == _TWO_BITS | _ENABLED | place


@pytest.mark.parametrize(
    "eccr",
    [
        0,  # another reason
        _TWO_BITS | 0x1234,  # code
        _TWO_BITS | 0x7BFF8,
        _TWO_BITS | _SECOND_BANK | 0x4000,
        _TWO_BITS | _SYSTEM | 0x7C000,
    ],
)
def test_other_nmis_are_faults(eccr: int) -> None:
    chip = _nmi(eccr)
    assert chip.machine.ended
    assert b"PL:FAULT" in chip.line.sent
    assert chip.machine.registers[_ECCR] == eccr


_DSB = bytes.fromhex("bff34f8f")


@pytest.mark.parametrize("name", _BOARDS)
def test_words_are_written_before_what_follows(name: str) -> None:
    """No emulator holds writes back: each has to have the instruction that ends that behind it."""
    chip = _Chip(name)
    follow = []

    def stored(address: int, size: int, value: int) -> None:
        del address, size, value
        at = chip.machine.place()
        is_long = chip.machine.memory(at + 1, 1)[0] >> 3 >= 0b11101
        follow.append(chip.machine.memory(at + (4 if is_long else 2), 4))

    chip.machine.watch(range(0x0807C000, 0x08100000), stored)
    chip.start()
    assert len(follow) > 1000
    assert set(follow) == {_DSB}
