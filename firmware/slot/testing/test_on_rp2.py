# SPDX-License-Identifier: Apache-2.0
"""Slots in the flash next to RP2040 and RP2350, by the driver, on fakes of the chips' ROMs."""

import pytest

from boards.tests.not_simulated.fields import RP2040_READS, RP2350_READS
from firmware.slot.testing.chip import Chip, check_update
from firmware.slot.testing.fake_rom_rp2 import FakeRom

_BOARDS = {
    "rp2040": ("pico", 1, 2 << 20, RP2040_READS),
    "rp2350": ("pico2", 2, 4 << 20, RP2350_READS),
}


def _chip(name: str, version: int = 0) -> tuple[Chip, FakeRom]:
    board, own_version, size, reads = _BOARDS[name]
    rom = FakeRom(version or own_version, size)
    return Chip(name, board, rom, reads), rom


@pytest.mark.parametrize("name", _BOARDS)
def test_an_update_goes_on_after_a_reset(name: str) -> None:
    chip, rom = _chip(name)
    check_update(chip, rom)


@pytest.mark.parametrize("name", _BOARDS)
def test_another_rom_is_an_error(name: str) -> None:
    chip, rom = _chip(name, version=3)
    chip.start()
    assert chip.machine.ended
    assert chip.line.sent.splitlines()[-1].startswith(b"PL:FAIL"), chip.line.sent
    assert (rom.erased, rom.written) == (0, 0)
