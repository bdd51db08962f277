# SPDX-License-Identifier: Apache-2.0
"""The flash functions in the ROMs of RP2040 and RP2350, by the chips' datasheets ("Bootrom
Contents", "Bootrom APIs"). Any deviation fails. So does any read of the memory between `connect`
and the restoration of memory-mapped reads.
"""

import struct

from boards.tests.not_simulated.machine import Machine, Read

_FLASH, _RAM, _UNIT = 0x10000000, 0x20000000, 32
_LOOKUP, _TABLE, _FUNCTIONS, _BYTES = 0x100, 0x200, 0x300, 0x400
_RETURN = 0x4770
_NAMES = ("IF", "EX", "RE", "RP", "FC")
_SSI, _TIMING, _BOOT_RAM = 0x18000000, 0x400D000C, 0x400E0000
# Writes the register whose address is its last word: RP2350's ROM leaves similar code.
_SETUP = (0x60004801, 0xBF004770, _TIMING)


def _constant(word: int) -> Read:
    return lambda registers: word


class FakeRom:
    """A ROM of a version, attached to a machine with `flash_bytes` of flash.

    Attributes:
        erased: number of erased sectors.
        written: number of written units.
    """

    def __init__(self, version: int, flash_bytes: int):
        self._version = version
        self._flash = range(_FLASH, _FLASH + flash_bytes)
        self._state = "memory"
        self.erased = self.written = 0

    def reads(self) -> dict[int, Read]:
        return {_BOOT_RAM + 4 * at: _constant(word) for at, word in enumerate(_SETUP)}

    def attach(self, machine: Machine) -> None:
        self._machine = machine
        places = {name: _FUNCTIONS + 16 * at for at, name in enumerate(_NAMES)}
        contents = bytearray(_BYTES)
        contents[0x10:0x13] = b"Mu" + bytes([self._version])
        if self._version == 1:
            struct.pack_into("<HxxH", contents, 0x14, _TABLE, _LOOKUP | 1)
        else:
            struct.pack_into("<H", contents, 0x16, _LOOKUP | 1)
        for place in (_LOOKUP, *places.values()):
            struct.pack_into("<H", contents, place, _RETURN)
        machine.add_rom(0, bytes(contents))

        def look(first: int, second: int, *others: int) -> int:
            if self._version == 1:
                assert first == _TABLE
                return places[second.to_bytes(2, "little").decode()] | 1
            assert second == 4, "for Arm, secure"
            return places[first.to_bytes(2, "little").decode()] | 1

        machine.on_call(_LOOKUP, look)
        machine.on_call(places["IF"], self._connect)
        machine.on_call(places["EX"], self._exit_xip)
        machine.on_call(places["RE"], self._erase)
        machine.on_call(places["RP"], self._program)
        machine.on_call(places["FC"], self._flush)
        others = machine.written

        def written(address: int, value: int) -> None:
            others(address, value)
            if address == (_SSI + 8 if self._version == 1 else _TIMING):
                self._set_up(value)

        machine.written = written

        def stored(address: int, size: int, value: int) -> None:
            raise AssertionError(f"a store to the flash, at {address:#x}: {value:#x}, {size}")

        machine.watch(self._flash, stored)

    def _go(self, before: str, after: str) -> None:
        assert self._state == before, self._state
        assert self._machine.masks_interrupts(), "a handler may run, in flash"
        self._state = after

    def _connect(self, *arguments: int) -> None:
        self._go("memory", "connected")
        self._machine.open(self._flash, False)

    def _exit_xip(self, *arguments: int) -> None:
        self._go("connected", "serial")

    def _erase(self, place: int, size: int, block: int, command: int) -> None:
        self._go("serial", "done")
        assert place % 4096 == 0 and size == 4096
        assert (block, command) == (1 << 16, 0xD8), "of what is larger"
        self._machine.store(_FLASH + place, b"\xff" * size)
        self.erased += 1

    def _program(self, place: int, data: int, size: int, *others: int) -> None:
        self._go("serial", "done")
        assert place % 256 == 0 and size == 256 and data >= _RAM
        before = self._machine.memory(_FLASH + place, size)
        page = self._machine.memory(data, size)
        units = [at for at in range(0, size, _UNIT) if page[at : at + _UNIT] != b"\xff" * _UNIT]
        for at in units:
            assert before[at : at + _UNIT] == b"\xff" * _UNIT, "not erased"
        self._machine.store(_FLASH + place, bytes(a & b for a, b in zip(before, page, strict=True)))
        self.written += len(units)

    def _flush(self, *arguments: int) -> None:
        self._go("done", "flushed")

    def _set_up(self, value: int) -> None:
        """Set up the flash interface; on RP2040 it is switched off and on, also at the start."""
        if self._version == 1 and value == 0 or self._state == "memory":
            return
        self._go("flushed", "memory")
        if self._version == 1:
            ssi = {at: self._machine.registers[_SSI + at] for at in (0x00, 0x04, 0xF4)}
            assert ssi == {0x00: 31 << 16 | 3 << 8, 0x04: 0, 0xF4: 0x03 << 24 | 2 << 8 | 6 << 2}
        self._machine.open(self._flash, True)
