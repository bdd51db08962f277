# SPDX-License-Identifier: Apache-2.0
"""Slots in the flash of STM32F4, L4 and U5, by the drivers, on fakes of the controllers."""

import pytest

from firmware.slot.testing.chip import Chip, check_update
from firmware.slot.testing.fake_flash import STM32F4, STM32L4, STM32U5, FakeFlash

_ON = 0x705  # caches and prefetch, as with the highest clock

_BOARDS = {
    "stm32f4": ("netduinoplus2", STM32F4),
    "stm32l4": ("b_l475e_iot01a", STM32L4),
    "stm32u5": ("nucleo_u575zi", STM32U5),
}


def _chip(name: str, caches: int = _ON) -> tuple[Chip, FakeFlash]:
    board, controller = _BOARDS[name]
    flash = FakeFlash(controller, caches)
    return Chip(name, board, flash), flash


@pytest.mark.parametrize("caches", [0, _ON])
@pytest.mark.parametrize("name", _BOARDS)
def test_an_update_goes_on_after_a_reset(name: str, caches: int) -> None:
    chip, flash = _chip(name, caches)
    check_update(chip, flash)
    assert flash.written > 1000
    assert flash.access == caches


@pytest.mark.parametrize(
    ("name", "sector"),
    [("stm32f4", 0x08080000), ("stm32l4", 0x0807C000), ("stm32u5", 0x080F8000)],
)
def test_a_sector_that_is_not_erased_is_an_error(name: str, sector: int) -> None:
    chip, flash = _chip(name)
    before = b"not ours"
    chip.machine.store(sector, before)
    flash.protected.add(sector)
    chip.start()
    assert chip.machine.ended
    assert chip.line.sent.splitlines()[-1].startswith(b"PL:FAIL"), chip.line.sent
    assert chip.machine.memory(sector, len(before)) == before


# Bits of ECCR, by RM0351, 3.7.7, and RM0456, 7.9.13: the recorded errors; ECCIE is no record.
_TWO_BITS, _ONE_BIT, _ENABLED = 1 << 31, 1 << 30, 1 << 24
# Its address, and its bits for the second bank and for the system's flash.
_ECCR = {"stm32l4": (0x40022018, 1 << 19, 1 << 20), "stm32u5": (0x40022030, 1 << 21, 1 << 22)}


def _nmi(name: str, eccr: int) -> Chip:
    chip, _ = _chip(name)
    chip.start()
    chip.machine.registers[_ECCR[name][0]] = eccr
    chip.machine.call(chip.elf.values["NMI_Handler"], chip.vectors)
    return chip


# Slots lie at the end of the first bank and at the start of the second.
@pytest.mark.parametrize(
    ("name", "place", "in_second"),
    [
        ("stm32l4", 0x7C000, False),
        ("stm32l4", 0x7FFF8, False),
        ("stm32l4", 0, True),
        ("stm32l4", 0x3FF8, True),
        ("stm32u5", 0xF8000, False),
        ("stm32u5", 0xFFFF0, False),
        ("stm32u5", 0, True),
        ("stm32u5", 0x7FF0, True),
    ],
)
def test_a_read_of_a_torn_unit_passes(name: str, place: int, in_second: bool) -> None:
    """The NMI ends when the controller's record of the error is cleared, by writing it. A record of
    a corrected bit stays.
    """
    at, second, _ = _ECCR[name]
    noted = place | (second if in_second else 0)
    chip = _nmi(name, _TWO_BITS | _ONE_BIT | _ENABLED | noted)
    assert not chip.machine.ended
    assert chip.machine.registers[at] == _TWO_BITS | _ENABLED | noted


@pytest.mark.parametrize(
    ("name", "eccr"),
    [
        ("stm32l4", 0),  # another reason
        ("stm32l4", _TWO_BITS | 0x1234),  # code
        ("stm32l4", _TWO_BITS | 0x7BFF8),
        ("stm32l4", _TWO_BITS | _ECCR["stm32l4"][1] | 0x4000),
        ("stm32l4", _TWO_BITS | _ECCR["stm32l4"][2] | 0x7C000),
        ("stm32u5", 0),
        ("stm32u5", _TWO_BITS | 0xF7FF0),
        ("stm32u5", _TWO_BITS | 1 << 20 | 0xF8000),  # of a chip with 4 MB
        ("stm32u5", _TWO_BITS | _ECCR["stm32u5"][1] | 0x8000),
        ("stm32u5", _TWO_BITS | _ECCR["stm32u5"][2] | 0xF8000),
    ],
)
def test_other_nmis_are_faults(name: str, eccr: int) -> None:
    chip = _nmi(name, eccr)
    assert chip.machine.ended
    assert b"PL:FAULT" in chip.line.sent
    assert chip.machine.registers[_ECCR[name][0]] == eccr


# Positions of the slots.
_SLOTS = {
    "stm32f4": (0x08080000, 0x08100000),
    "stm32l4": (0x0807C000, 0x08084000),
    "stm32u5": (0x080F8000, 0x08108000),
}
_DSB = bytes.fromhex("bff34f8f")


@pytest.mark.parametrize("name", _BOARDS)
def test_words_are_written_before_what_follows(name: str) -> None:
    """No emulator delays writes, so the test checks the instruction after each write that completes
    it.
    """
    chip, _ = _chip(name)
    follow = []

    def stored(address: int, size: int, value: int) -> None:
        del address, size, value
        at = chip.machine.place()
        is_long = chip.machine.memory(at + 1, 1)[0] >> 3 >= 0b11101
        follow.append(chip.machine.memory(at + (4 if is_long else 2), 4))

    chip.machine.watch(range(*_SLOTS[name]), stored)
    chip.start()
    assert len(follow) > 1000
    assert set(follow) == {_DSB}
