# SPDX-License-Identifier: Apache-2.0
"""Debug port of a Cortex-M (ADIv5) on a simulated core.

It has a JTAG-DP, one memory access port, and the core's debug registers. A debugger's server
provides the core. QEMU has the memory and the core's registers, but nothing between a probe and
them.
"""

import struct
from collections.abc import Mapping

from tools.image.testing.gdb_remote import GdbRemote

_OK = 2  # JTAG: the transfer is done, or failed by CTRL/STAT

# Registers of the debug port and the memory access port, by address.
_CTRL_STAT, _SELECT = 0x4, 0x8
_CSW, _TAR, _DRW, _BANKED, _BASE, _IDR = 0x00, 0x04, 0x0C, 0x10, 0xF8, 0xFC
_AHB_AP = 0x04770021
_CSW_FIXED, _CSW_INCREMENTS, _CSW_SIZE = 0x23000040, 0x30, 7
_POWER_UP = 5 << 28  # acknowledged one bit above

_PRIVATE_BUS = 0xE00  # in MB
_FP_CTRL, _FP_ENABLE = 0xE0002000, 1
_AIRCR, _DFSR = 0xE000ED0C, 0xE000ED30
_DHCSR, _DCRSR, _DCRDR, _DEMCR = 0xE000EDF0, 0xE000EDF4, 0xE000EDF8, 0xE000EDFC
_DEBUG_KEY, _RESET_KEY = 0xA05F, 0x05FA
_C_DEBUGEN, _C_HALT, _C_STEP, _S_REGRDY, _S_HALT, _S_RESET = 1, 2, 4, 1 << 16, 1 << 17, 1 << 25
_REGISTER_IS_WRITTEN = 1 << 16
_SYSRESETREQ, _VC_CORERESET = 1 << 2, 1
_HALTED, _BREAKPOINT, _CAUGHT = 1, 2, 8
_BKPT = b"\x00\xbe"
_RAM = range(0x20000000, 0x40000000)
_THUMB = 1 << 24

_CORE = {number: f"r{number}" for number in range(13)} | {
    13: "sp",
    14: "lr",
    15: "pc",
    16: "xpsr",
    17: "msp",
    18: "psp",
}
_SPECIAL, _SPECIAL_NAMES = 20, ("primask", "basepri", "faultmask", "control")  # a byte each


class DebugPort:
    """Registers of the JTAG-DP and the access port. Floating-point registers are missing. `reads`
    maps addresses to words read differently from QEMU's.
    """

    def __init__(self, core: GdbRemote, reads: Mapping[int, int]):
        self._reads = reads
        self._core = core
        self._ctrl_stat = self._select = self._tar = self._result = 0
        self._csw = _CSW_FIXED
        self._dhcsr = self._demcr = self._dfsr = self._dcrdr = self._fpb = 0
        self._was_reset = True
        self._breakpoints: set[int] = set()
        self._unsent = (0, b"")  # pending memory write, in one piece, and its address

    def transfer(self, is_access_port: bool, word: int) -> None:
        """Run a transfer. Bit 0 selects a read, the next two bits the register, the others hold the
        data to write.
        """
        reads, address, value = bool(word & 1), (word >> 1 & 3) << 2, word >> 3
        if not is_access_port:
            self._debug_port(reads, address, value)
        elif self._select >> 24:
            self._result = 0  # there is one access port
        elif reads:
            self._result = self._read_port(self._select & 0xF0 | address)
        else:
            self._write_port(self._select & 0xF0 | address, value)

    def result(self) -> int:
        """Return the last transfer's acknowledge, and the value it read."""
        return self._result << 3 | _OK

    def leave(self) -> None:
        """Detach the debugger; the core continues."""
        self._flush()
        self._control(0)

    def _debug_port(self, reads: bool, address: int, value: int) -> None:
        if reads:
            # The remaining register is RDBUFF: the last result of the access port.
            registers = {_CTRL_STAT: self._ctrl_stat, _SELECT: self._select, 0: 0}
            self._result = registers.get(address, self._result)
        elif address == _CTRL_STAT:
            self._ctrl_stat = value & _POWER_UP | (value & _POWER_UP) << 1
        elif address == _SELECT:
            self._select = value

    def _read_port(self, register: int) -> int:
        if register == _DRW:
            return self._load(self._next())
        if register & 0xF0 == _BANKED:
            return self._load(self._tar & ~0xF | register & 0xC)
        return {_CSW: self._csw, _TAR: self._tar, _IDR: _AHB_AP, _BASE: 0xFFFFFFFF}.get(register, 0)

    def _write_port(self, register: int, value: int) -> None:
        if register == _CSW:  # it increments, and does not pack
            increments = _CSW_INCREMENTS & -_CSW_INCREMENTS if value & _CSW_INCREMENTS else 0
            self._csw = _CSW_FIXED | increments | value & _CSW_SIZE
        elif register == _TAR:
            self._tar = value
        elif register == _DRW:
            self._store(self._next(), value)
        elif register & 0xF0 == _BANKED:
            self._store(self._tar & ~0xF | register & 0xC, value)

    def _size(self) -> int:
        return 1 << (self._csw & _CSW_SIZE)

    def _next(self) -> int:
        address = self._tar
        if self._csw & _CSW_INCREMENTS:
            self._tar += self._size()
        return address

    def _load(self, address: int) -> int:
        self._flush()
        if address == _DHCSR:
            return self._state()
        own = {_DEMCR: self._demcr, _DFSR: self._dfsr, _DCRDR: self._dcrdr, _FP_CTRL: self._fpb}
        known = {**self._reads, **own}
        if address in known:
            return known[address]
        with self._core.stopped():
            data = self._core.read(address, self._size())
        return int.from_bytes(data, "little") << 8 * (address & 3)

    def _store(self, address: int, value: int) -> None:
        if address >> 20 != _PRIVATE_BUS:
            place, data = self._unsent
            if address != place + len(data):
                self._flush()
                place, data = address, b""
            lanes = struct.pack("<I", value)[address & 3 :]
            self._unsent = (place, data + lanes[: self._size()])
            return
        self._flush()
        if address == _DHCSR:
            if value >> 16 == _DEBUG_KEY:
                self._control(value & 0xFFFF)
        elif address == _DCRSR:
            self._core_register(_CORE.get(value & 0x7F, ""), value)
        elif address == _DCRDR:
            self._dcrdr = value
        elif address == _DEMCR:
            self._demcr = value
        elif address == _DFSR:
            self._dfsr &= ~value
        elif address == _FP_CTRL:
            self._fpb = value & _FP_ENABLE  # it compares nothing
        elif address == _AIRCR and value >> 16 == _RESET_KEY and value & _SYSRESETREQ:
            self._reset(value)
        else:
            with self._core.stopped():
                self._core.write(address, struct.pack("<I", value))

    def _flush(self) -> None:
        """Send the pending write. A core halts at any BKPT. QEMU stops only at the breakpoints set
        in its server: those the debugger has written to RAM.
        """
        place, data = self._unsent
        self._unsent = (0, b"")
        if not data:
            return
        written = range(place, place + len(data))
        places = {at for at in written[::2] if at in _RAM and data[at - place :][:2] == _BKPT}
        gone = self._breakpoints & set(written) - places
        with self._core.stopped():
            self._core.write(place, data)
            for at in gone:
                self._core.clear_breakpoint(at)
            for at in places - self._breakpoints:
                self._core.set_breakpoint(at)
        self._breakpoints = self._breakpoints - gone | places

    def _state(self) -> int:
        self._core.poll()
        halted = not self._core.running and bool(self._dhcsr & _C_HALT)
        if not self._core.running and not halted and self._can_run():
            self._dfsr |= _BREAKPOINT
            self._dhcsr |= _C_HALT
            halted = True
        state = self._dhcsr | _S_REGRDY | _S_HALT * halted | _S_RESET * self._was_reset
        self._was_reset = False
        return state

    def _control(self, value: int) -> None:
        self._dhcsr = value
        if value & _C_HALT:
            self._core.stop()
            self._dfsr |= _HALTED
        elif value & _C_STEP:
            self._core.step()
            self._dhcsr |= _C_HALT
            self._dfsr |= _HALTED
        elif not self._core.running and self._can_run():
            self._core.go()

    def _can_run(self) -> bool:
        """Return True if the core has a program.

        Otherwise it locks up and can be halted, while QEMU would end.
        """
        thumb = bool(self._core.register("xpsr") & _THUMB)
        return thumb and self._core.register("pc") >> 28 != 0xF

    def _core_register(self, name: str, request: int) -> None:
        writes = bool(request & _REGISTER_IS_WRITTEN)
        if request & 0x7F == _SPECIAL:
            values = [self._core.register(one) & 0xFF for one in _SPECIAL_NAMES]
            if writes:
                for one, byte in zip(_SPECIAL_NAMES, struct.pack("<I", self._dcrdr), strict=True):
                    self._core.set_register(one, byte)
            else:
                self._dcrdr = int.from_bytes(bytes(values), "little")
        elif writes:
            self._core.set_register(name, self._dcrdr)
        else:
            self._dcrdr = self._core.register(name)

    def _reset(self, value: int) -> None:
        self._core.stop()
        self._core.write(_AIRCR, struct.pack("<I", value))
        self._was_reset = True
        catches = self._dhcsr & _C_DEBUGEN and self._demcr & _VC_CORERESET
        self._dfsr |= _CAUGHT if catches else 0
        self._control(self._dhcsr & _C_DEBUGEN | (_C_HALT if catches else 0))
