# SPDX-License-Identifier: Apache-2.0
"""Slots in the flash of STM32H743, by the driver, on a fake of the controller."""

from collections.abc import Sequence

import pytest

from firmware.slot.testing.chip import Chip, check_rest_of_update, check_update
from firmware.slot.testing.fake_flash_h7 import FakeFlashH7

# Two slots, of two sectors each: the package, and marks.
_FIRST, _SECOND, _SECTOR = 0x08180000, 0x081C0000, 0x20000
_CUT = 5056  # of the second package, as in on_flash.c
_UNIT = 32


def _chip(cached: bool = False) -> tuple[Chip, FakeFlashH7]:
    flash = FakeFlashH7(cached)
    return Chip("stm32h7", "nucleo_h743zi", flash), flash


@pytest.mark.parametrize("cached", [False, True])
def test_an_update_goes_on_after_a_reset(cached: bool) -> None:
    chip, flash = _chip(cached)
    check_update(chip, flash)
    assert flash.erased > 0 and flash.written > 100
    assert bool(flash.stale) != cached


def test_a_sector_that_is_not_erased_is_an_error() -> None:
    chip, flash = _chip()
    before = b"not ours"
    chip.machine.store(_FIRST, before)
    flash.protected.add(_FIRST)
    chip.start()
    assert chip.machine.ended
    assert chip.line.sent.splitlines()[-1].startswith(b"PL:FAIL"), chip.line.sent
    assert chip.machine.memory(_FIRST, len(before)) == before


# Units, sectors under erase, and a flag: they are read before they are erased.
@pytest.mark.parametrize(
    ("torn", "is_read"),
    [
        ([_SECOND], True),  # the header
        ([_SECOND + _CUT // _UNIT * _UNIT], False),
        (range(_SECOND, _SECOND + _SECTOR, 4096), True),
        ([_SECOND + _SECTOR], True),  # a mark
        (range(_SECOND + _SECTOR, _SECOND + 2 * _SECTOR, 4096), True),
        # An unset mark of the running model: "failed".
        ([_FIRST + _SECTOR + 9 * _UNIT], True),
    ],
)
def test_what_power_was_lost_in_is_no_bus_fault(torn: Sequence[int], is_read: bool) -> None:
    chip, flash = _chip()
    chip.start()
    for unit in torn:
        flash.tear(unit)
    check_rest_of_update(chip)
    assert (flash.probed > 0) == is_read
    assert chip.resets == 1
