# SPDX-License-Identifier: Apache-2.0
"""Slots in the flash of nRF5340, by the driver, on a fake of its controller."""

from boards.tests.not_simulated.fields import NRF5340_READS
from firmware.slot.testing.chip import Chip, check_update
from firmware.slot.testing.fake_flash_nrf import FakeFlash

_SLOTS = range(0xF8000, 0x100000)


def _chip() -> tuple[Chip, FakeFlash]:
    flash = FakeFlash()
    chip = Chip("nrf5340", "nrf5340dk", flash, NRF5340_READS)
    chip.machine.store(_SLOTS.start, bytes(len(_SLOTS)))  # the earlier content
    return chip, flash


def test_an_update_goes_on_after_a_reset() -> None:
    chip, flash = _chip()
    check_update(chip, flash)
    assert flash.written > 1000


def test_a_page_that_is_not_erased_is_an_error() -> None:
    chip, flash = _chip()
    flash.protected.update(range(_SLOTS.start, _SLOTS.stop, 4096))
    chip.start()
    assert chip.machine.ended
    assert chip.line.sent.splitlines()[-1].startswith(b"PL:FAIL"), chip.line.sent
    assert flash.written == 0
