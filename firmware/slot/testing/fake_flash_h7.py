# SPDX-License-Identifier: Apache-2.0
"""The flash controller of STM32H743, by its reference manual (RM0433, chapter 4). Any deviation
fails. So does a load of torn data, unless faults are ignored.
"""

from boards.tests.not_simulated.machine import Machine, Read

_BASE, _MEMORY, _BANK_BYTES, _SECTOR_BYTES, _UNIT = 0x52002000, 0x08000000, 1 << 20, 1 << 17, 32
_KEY, _CONTROL, _STATUS, _CLEAR = 0x04, 0x0C, 0x10, 0x14
_KEYS = (0x45670123, 0xCDEF89AB)
_LOCK, _PROGRAM, _ERASE, _PARALLEL, _START = 1 << 0, 1 << 1, 1 << 2, 3 << 4, 1 << 7
_BUSY, _WAITING, _QUEUED, _PROTECTED, _TWO_BITS = 1 << 0, 1 << 1, 1 << 2, 1 << 17, 1 << 26
_CORE_CONTROL, _IGNORE_FAULTS, _DATA_CACHE, _INVALIDATE = 0xE000ED14, 1 << 8, 1 << 16, 0xE000EF5C
_TURNS = 3  # reads while the status is busy


class _Bank:
    """Registers, and the part of the memory."""

    def __init__(self, number: int) -> None:
        self.registers = _BASE + 0x100 * number
        self.start = _MEMORY + _BANK_BYTES * number
        self.control = _LOCK | _PARALLEL
        self.keys: list[int] = []
        self.status = _PROTECTED  # noted by something before
        self.turns = 0
        self.pending = b""

    def read_control(self, registers: dict[int, int]) -> int:
        del registers
        return self.control

    def read_status(self, registers: dict[int, int]) -> int:
        del registers
        self.turns = max(0, self.turns - 1)
        return self.status | (_BUSY | _QUEUED if self.turns else _WAITING if self.pending else 0)


class FakeFlashH7:
    """A controller attached to a machine whose core has its data cache on or off.

    Attributes:
        protected: sectors that begin here are not erased, which is an error.
        erased: number of erased sectors.
        written: number of written units.
        stale: lines with possibly outdated content in the cache.
        probed: number of loads of torn units.
    """

    def __init__(self, cached: bool):
        self._banks = (_Bank(0), _Bank(1))
        self._torn: set[int] = set()
        self._cached = cached
        self.protected: set[int] = set()
        self.erased = self.written = self.probed = 0
        self.stale: set[int] = set()

    def reads(self) -> dict[int, Read]:
        reads: dict[int, Read] = {}
        for bank in self._banks:
            reads[bank.registers + _STATUS] = bank.read_status
            reads[bank.registers + _CONTROL] = bank.read_control
        return reads

    def attach(self, machine: Machine) -> None:
        self._machine = machine
        machine.registers[_CORE_CONTROL] = _DATA_CACHE if self._cached else 0
        others = machine.written

        def written(address: int, value: int) -> None:
            others(address, value)
            if address == _INVALIDATE:
                assert value % _UNIT == 0
                self.stale.discard(value)
            for bank in self._banks:
                if address == bank.registers + _KEY:
                    bank.keys.append(value)
                    assert tuple(bank.keys) == _KEYS[: len(bank.keys)]
                    if len(bank.keys) == len(_KEYS):
                        bank.control, bank.keys = bank.control & ~_LOCK, []
                elif address == bank.registers + _CLEAR:
                    bank.status &= ~value
                elif address == bank.registers + _CONTROL:
                    self._command(bank, value)
                assert address != bank.registers + _STATUS, "it is only read"

        machine.written = written
        machine.watch(range(_MEMORY, _MEMORY + 2 * _BANK_BYTES), self._store)

    def tear(self, unit: int) -> None:
        """Mark a unit as interrupted by a power loss, until it is erased."""
        self._torn.add(unit)
        self._machine.watch_reads(range(unit, unit + _UNIT), lambda: self._load(unit))

    def _load(self, unit: int) -> None:
        if unit in self._torn:
            assert self._machine.masks_faults(), "a bus fault"
            assert self._machine.registers[_CORE_CONTROL] & _IGNORE_FAULTS, "a bus fault"
            self.probed += 1
            self._bank(unit).status |= _TWO_BITS

    def _bank(self, place: int) -> _Bank:
        return self._banks[place >= self._banks[1].start]

    def _command(self, bank: _Bank, value: int) -> None:
        assert not bank.turns, "the controller works"
        assert not bank.control & _LOCK, "locked"
        assert value & _PARALLEL == _PARALLEL, "as the program had it"
        assert value & (_ERASE | _PROGRAM) != _ERASE | _PROGRAM
        if value & _START:
            assert bank.control & _ERASE and not bank.status
            start = bank.start + _SECTOR_BYTES * (value >> 8 & 7)
            if start in self.protected:
                bank.status |= _PROTECTED
            else:
                sector = range(start, start + _SECTOR_BYTES)
                self._torn -= set(sector)
                self._machine.store(start, b"\xff" * _SECTOR_BYTES)
                self.stale |= set(sector[::_UNIT])
                self.erased += 1
            bank.turns = _TURNS
        bank.control = value & ~_START

    def _store(self, address: int, size: int, value: int) -> None:
        bank = self._bank(address)
        assert not bank.turns, "the controller works"
        assert not bank.control & _LOCK and bank.control & _PROGRAM, "not programming"
        assert size == 4 and not bank.status
        if not bank.pending:
            assert address % _UNIT == 0
            assert self._machine.memory(address, _UNIT) == b"\xff" * _UNIT, "not erased"
        bank.pending += value.to_bytes(4, "little")
        if len(bank.pending) == _UNIT:
            bank.pending = b""
            bank.turns = _TURNS
            self.stale.add(address // _UNIT * _UNIT)
            self.written += 1
