# SPDX-License-Identifier: Apache-2.0
"""The flash controllers of STM32F4, STM32L4 and STM32U5, by their reference manuals (RM0090 and
RM0351, chapter 3, RM0456, chapters 7 and 8). Any deviation from them fails.
"""

from collections.abc import Callable
from dataclasses import dataclass

from boards.tests.not_simulated.machine import Machine, Read

_KEYS = (0x45670123, 0xCDEF89AB)
_PROGRAM, _ERASE, _START, _LOCK = 1 << 0, 1 << 1, 1 << 16, 1 << 31
_BUSY, _PROTECTED = 1 << 16, 1 << 4
_CACHE, _EMPTY_CACHE = 1 << 10, 1 << 12
_TURNS = 3  # reads while the status is busy


@dataclass(frozen=True)
class Controller:
    """A kind of controller.

    Attributes:
        key, status, control: offsets of registers; the first one is that of the caches.
        errors: bits of the status cleared by writing them.
        write_bytes: write unit, by words in their order.
        width: bits of the control register for it, and their required value.
        sector: from the control register to the part of the memory it erases.
        icache: address of the instruction cache, which also holds data, in place of one
            in the first register; 0 if there is none.
    """

    base: int
    key: int
    status: int
    control: int
    errors: int
    write_bytes: int
    width: tuple[int, int]
    sector: Callable[[int], range]
    icache: int = 0


def _f4_sector(control: int) -> range:
    number = control >> 3 & 15
    assert 5 <= number <= 11, number
    return range(0x08000000 + 0x20000 * (number - 4), 0x08000000 + 0x20000 * (number - 3))


def _l4_page(control: int) -> range:
    start = 0x08000000 + 0x80000 * (control >> 11 & 1) + 2048 * (control >> 3 & 255)
    return range(start, start + 2048)


def _u5_page(control: int) -> range:
    start = 0x08000000 + 0x100000 * (control >> 11 & 1) + 8192 * (control >> 3 & 127)
    return range(start, start + 8192)


STM32F4 = Controller(0x40023C00, 0x04, 0x0C, 0x10, 0xF2, 4, (3 << 8, 2 << 8), _f4_sector)
STM32L4 = Controller(0x40022000, 0x08, 0x10, 0x14, 0xC3FA, 8, (0, 0), _l4_page)
STM32U5 = Controller(
    *(0x40022000, 0x08, 0x20, 0x28, 0x20FA, 16, (0, 0), _u5_page, 0x40030400),
)


class FakeFlash:
    """A controller attached to a machine.

    Attributes:
        access: the register of the caches.
        protected: sectors that begin here are not erased, which is an error.
        erased: number of erased sectors.
        written: number of written units.
    """

    def __init__(self, kind: Controller, caches: int):
        self._kind = kind
        self.protected: set[int] = set()
        self.erased = self.written = 0
        self.access = caches
        self._control = _LOCK
        self._keys: list[int] = []
        self._busy = 0
        self._errors = 1 << 7  # noted by something before
        self._pending = b""
        self._emptied = True
        self._turns = 0  # reads while a cache is being emptied

    def reads(self) -> dict[int, Read]:
        """Return the read values of its registers."""
        kind = self._kind
        cache: dict[int, Read] = {
            kind.icache: lambda registers: 1,  # it is on
            kind.icache + 4: lambda registers: int(self._invalidating()),
        }
        return (cache if kind.icache else {}) | {
            kind.base: lambda registers: self.access,
            kind.base + kind.status: lambda registers: self._status(),
            kind.base + kind.control: lambda registers: self._control,
        }

    def attach(self, machine: Machine) -> None:
        """Observe writes to its registers and to the memory."""
        self._machine = machine
        others, kind = machine.written, self._kind

        def written(address: int, value: int) -> None:
            others(address, value)
            offset = address - self._kind.base
            if kind.icache and address == kind.icache:
                assert value == 3, "it stays on, and is emptied"
                self._emptied, self._turns = True, _TURNS
            elif offset == 0:
                self._set_access(value)
            elif offset == self._kind.key:
                self._unlock(value)
            elif offset == self._kind.status:
                self._errors &= ~value
            elif offset == self._kind.control:
                self._command(value)

        machine.written = written
        machine.watch(range(0x08000000, 0x08200000), self._store)

    def _status(self) -> int:
        self._busy = max(0, self._busy - 1)
        return (_BUSY if self._busy else 1) | self._errors

    def _invalidating(self) -> bool:
        self._turns = max(0, self._turns - 1)
        return self._turns > 0

    def _idle(self) -> None:
        assert self._busy == 0, "the controller works"

    def _set_access(self, value: int) -> None:
        assert not self._kind.icache, "nothing to change"
        assert not (value & _EMPTY_CACHE and self.access & value & _CACHE), "the cache is on"
        self._emptied |= bool(value & _EMPTY_CACHE)
        assert not (value & _CACHE and not self._emptied), "the cache has what was before"
        self.access = value & ~_EMPTY_CACHE

    def _unlock(self, value: int) -> None:
        self._keys.append(value)
        assert tuple(self._keys) == _KEYS[: len(self._keys)]
        if len(self._keys) == len(_KEYS):
            self._control, self._keys = 0, []

    def _command(self, value: int) -> None:
        self._idle()
        assert not self._control & _LOCK, "locked"
        assert value & (_ERASE | _PROGRAM) != _ERASE | _PROGRAM
        if value & _ERASE and value & _START:
            self._begin()
            sector = self._kind.sector(value)
            if sector.start in self.protected:
                self._errors |= _PROTECTED
            else:
                self._machine.store(sector.start, b"\xff" * len(sector))
                self.erased += 1
        self._control = value & ~_START

    def _begin(self) -> None:
        assert not self._errors, "an error is noted"
        assert self._kind.icache or not self.access & _CACHE, "the cache is on"
        assert self._emptied and not self._turns, "the cache has what was before"
        mask, value = self._kind.width
        assert self._control & mask == value
        self._emptied = False
        self._busy = _TURNS

    def _store(self, address: int, size: int, value: int) -> None:
        self._idle()
        assert not self._control & _LOCK and self._control & _PROGRAM, "not programming"
        assert size == 4
        if not self._pending:
            assert address % self._kind.write_bytes == 0
            before = self._machine.memory(address, self._kind.write_bytes)
            assert before == b"\xff" * self._kind.write_bytes, "not erased"
        self._pending += value.to_bytes(4, "little")
        if len(self._pending) == self._kind.write_bytes:
            self._begin()
            self._pending = b""
            self.written += 1
