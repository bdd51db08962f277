# SPDX-License-Identifier: Apache-2.0
"""The flash controller of nRF5340, by its Product Specification, "NVMC". Any deviation fails. It
has no register that erases: writing ones to a page's first word erases it.
"""

from boards.tests.not_simulated.machine import Machine, Read

_NVMC, _READY, _CONFIG = 0x50039000, 0x400, 0x504
_READ_ONLY, _WRITE, _ERASE = range(3)
_PAGE, _ONES = 4096, 0xFFFFFFFF
_TURNS = 3  # reads while it is busy


class FakeFlash:
    """A controller attached to a machine.

    Attributes:
        erased: number of erased pages.
        written: number of written words.
        protected: pages that begin here are not erased.
    """

    def __init__(self) -> None:
        self.erased = self.written = 0
        self.protected: set[int] = set()
        self._mode = _READ_ONLY
        self._busy = 0

    def reads(self) -> dict[int, Read]:
        """Return the read values of its registers."""
        return {_NVMC + _READY: lambda registers: self._ready()}

    def attach(self, machine: Machine) -> None:
        """Observe writes to its registers and to the memory."""
        self._machine = machine
        others = machine.written

        def written(address: int, value: int) -> None:
            others(address, value)
            if _NVMC <= address < _NVMC + 0x1000:
                assert address == _NVMC + _CONFIG, f"it has no register {address:#x}"
                assert not self._busy, "the controller works"
                assert value in (_READ_ONLY, _WRITE, _ERASE)
                self._mode = value

        machine.written = written
        machine.watch(range(0x00100000), self._store)

    def _ready(self) -> int:
        self._busy = max(0, self._busy - 1)
        return int(not self._busy)

    def _store(self, address: int, size: int, value: int) -> None:
        assert not self._busy, "the controller works"
        assert size == 4 and address % 4 == 0
        if self._mode == _ERASE:
            assert value == _ONES and address % _PAGE == 0
            if address not in self.protected:
                self._machine.store(address, b"\xff" * _PAGE)
            self.erased += 1
        else:
            assert self._mode == _WRITE, "not writing"
            assert self._machine.memory(address, 4) == b"\xff" * 4, "not erased"
            self.written += 1
        self._busy = _TURNS
