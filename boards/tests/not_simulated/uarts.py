# SPDX-License-Identifier: Apache-2.0
"""Kinds of UART on the boards, with the registers from their manuals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from boards.tests.not_simulated.machine import Machine, Read

Registers = Mapping[int, int]
"""Last written registers of a UART, by offset."""

_UARTE_RECEIVED = 0x110

_DIVIDER = -1
"""For a 16550: values written to its first two registers in divider mode."""


@dataclass(frozen=True)
class Receiver:
    """Reception of a UART.

    Attributes:
        data: offset of the register that bytes are read from, None if they are written by
            DMA.
        status: offset of the register with the state of reception.
        full: its bits while there is a byte.
        empty: its bits while there is none.
        on: returns True if the UART receives.
        overrun: bits of the status during an overrun, while nothing is received.
        clear: offset of the register that clears it when the bits are written to it; None
            if a read of the status and then of the data clears it.
    """

    data: int | None
    status: int
    full: int
    on: Callable[[Registers], bool] = lambda registers: True
    empty: int = 0
    overrun: int = 0
    clear: int | None = None


@dataclass(frozen=True)
class Uart:
    """A kind of UART.

    Attributes:
        data: offset of the register that bytes are written to, None if they are read by
            DMA.
        idle: offsets of status registers, with their values while nothing is sent.
        enabled: returns True if bytes written now are sent.
        baud: bits in a second, from the UART's clock in Hz.
        receiver: its reception.
    """

    data: int | None
    idle: Mapping[int, int]
    enabled: Callable[[Registers], bool]
    baud: Callable[[int, Registers], float]
    receiver: Receiver


def _has(registers: Registers, offset: int, bits: int) -> bool:
    return registers.get(offset, 0) & bits == bits


def _nordic(clock: int, registers: Registers) -> float:
    # The manual's table of values has no unit: it is the clock divided by 2^32.
    return clock * registers[0x524] / (1 << 32)


KINDS = {
    "console_stm32_usart_v1": Uart(
        data=0x04,
        idle={0x00: 0xC0},
        enabled=lambda registers: _has(registers, 0x0C, 1 << 13 | 1 << 3),
        baud=lambda clock, registers: clock / registers[0x08],
        receiver=Receiver(
            *(0x04, 0x00, 1 << 5),
            lambda registers: _has(registers, 0x0C, 1 << 2),
            overrun=1 << 3,
        ),
    ),
    "console_stm32_usart_v2": Uart(
        data=0x28,
        idle={0x1C: 0xC0},
        enabled=lambda registers: _has(registers, 0x00, 1 | 1 << 3),
        baud=lambda clock, registers: clock / registers[0x0C],
        receiver=Receiver(
            *(0x24, 0x1C, 1 << 5),
            lambda registers: _has(registers, 0x00, 1 << 2),
            overrun=1 << 3,
            clear=0x20,
        ),
    ),
    "console_pl011": Uart(
        data=0x00,
        idle={0x18: 0x80},
        enabled=lambda registers: _has(registers, 0x30, 0x101) and registers[0x2C] & 0x6E == 0x60,
        baud=lambda clock, registers: clock / (16 * registers[0x24] + registers[0x28] / 4),
        receiver=Receiver(
            0x00, 0x18, 0, lambda registers: _has(registers, 0x30, 0x201), empty=1 << 4
        ),
    ),
    "console_nrf_uart": Uart(
        data=0x51C,
        idle={0x11C: 1},
        enabled=lambda registers: registers.get(0x500) == 4 and registers.get(0x008) == 1,
        baud=_nordic,
        receiver=Receiver(
            *(0x518, 0x108, 1),
            lambda registers: registers.get(0x500) == 4 and registers.get(0x000) == 1,
        ),
    ),
    "console_nrf_uarte": Uart(
        data=None,
        idle={0x120: 1},
        enabled=lambda registers: registers.get(0x500) == 8,
        baud=_nordic,
        receiver=Receiver(None, _UARTE_RECEIVED, 1, lambda registers: registers.get(0x500) == 8),
    ),
    "console_lpuart": Uart(
        data=0x1C,
        idle={0x14: 3 << 22},
        enabled=lambda registers: _has(registers, 0x18, 1 << 19),
        baud=lambda clock, registers: (
            clock / ((registers[0x10] >> 24 & 31) + 1) / (registers[0x10] & 0x1FFF)
        ),
        receiver=Receiver(
            *(0x1C, 0x14, 1 << 21),
            lambda registers: _has(registers, 0x18, 1 << 18),
            overrun=1 << 19,
            clear=0x14,
        ),
    ),
    "console_max_uart": Uart(
        data=0x20,
        idle={0x00: 1 << 19, 0x04: 1 << 6},
        enabled=lambda registers: registers[0x00] & 0x38C10 == 2 << 16 | 1 << 15 | 3 << 10,
        baud=lambda clock, registers: clock / registers[0x10],
        receiver=Receiver(0x20, 0x04, 0, empty=1 << 4),
    ),
    "console_ns16550": Uart(
        data=0x00,
        idle={0x14: 0x60},
        enabled=lambda registers: registers.get(0x0C) == 3 and registers.get(0x08, 0) & 1 == 1,
        baud=lambda clock, registers: clock / 16 / registers[_DIVIDER],
        receiver=Receiver(0x00, 0x14, 1),
    ),
    "console_ra_sci": Uart(
        data=0x04,
        idle={0x48: 3 << 29},
        enabled=lambda registers: (
            _has(registers, 0x08, 1 << 4) and registers[0x14] == 1 << 12 | 2 << 8
        ),
        baud=lambda clock, registers: (
            clock / 6 / ((registers[0x10] >> 8 & 0xFF) + 1) if _has(registers, 0x10, 1 << 6) else 0
        ),
        receiver=Receiver(
            *(0x00, 0x48, 1 << 31),
            lambda registers: _has(registers, 0x08, 0x11),
            overrun=1 << 24,
            clear=0x68,
        ),
    ),
    "console_lpc_usart": Uart(
        data=0xE20,
        idle={0xE04: 0x30, 0x08: 8},
        enabled=lambda registers: (
            _has(registers, 0x00, 1 | 1 << 2)
            and _has(registers, 0xE00, 1)
            and registers.get(0xFF8) == 1
        ),
        baud=lambda clock, registers: clock / (registers[0x28] + 1) / (registers[0x20] + 1),
        receiver=Receiver(0xE30, 0xE04, 1 << 6, lambda registers: _has(registers, 0xE00, 3)),
    ),
    "console_sercom": Uart(
        data=0x28,
        idle={0x18: 3},
        enabled=lambda registers: (
            registers.get(0x00) == 1 << 30 | 3 << 20 | 1 << 16 | 1 << 2 | 1 << 1
            and _has(registers, 0x04, 1 << 16)
        ),
        baud=lambda clock, registers: clock / 16 * (1 - registers[0x0C] / 65536),
        receiver=Receiver(0x28, 0x18, 1 << 2, lambda registers: _has(registers, 0x04, 1 << 17)),
    ),
}

_REGISTERS = 0x1000
_LCR, _LCR_DIVIDER = 0x0C, 1 << 7
_UARTE_START, _UARTE_POINTER, _UARTE_COUNT = 0x008, 0x544, 0x548
_UARTE_RECEIVE, _UARTE_INTO, _UARTE_MOST = 0x000, 0x534, 0x538


class Line:
    """Sent and received data of a UART.

    Attributes:
        heard: bytes it will receive, in order.
        overrun: an overrun of an unread byte is flagged.
        sent: bytes, in order.
        before: all registers when the first was sent.
    """

    def __init__(self, kind: str, base: int):
        self._kind, self._uart, self._base = kind, KINDS[kind], base
        self._divider = 0
        self._moved = False  # by DMA, into memory
        self._has_been_on = False
        self._has_told = False  # the overrun was reported
        self.heard = bytearray()
        self.overrun = False
        self.sent = bytearray()
        self.before: dict[int, int] = {}

    def reads(self) -> dict[int, Read]:
        """Return the read values of the UART's registers."""
        receiver = self._uart.receiver

        def says(value: int) -> Read:
            return lambda registers: value

        def hears(registers: dict[int, int]) -> bool:
            own = {at - self._base: value for at, value in registers.items()}
            return bool(self.heard) and receiver.on(own) and not self.overrun

        def status(registers: dict[int, int]) -> int:
            there = self._moved if receiver.data is None else hears(registers)
            idle = self._uart.idle.get(receiver.status, 0)
            self._has_told = self.overrun
            noted = receiver.overrun if self.overrun else 0
            return idle | (receiver.full if there else receiver.empty) | noted

        def take(registers: dict[int, int]) -> int:
            data = self.heard.pop(0) if hears(registers) else 0
            if self._has_told and receiver.clear is None:
                self.overrun = self._has_told = False
            return data

        reads = {self._base + offset: says(value) for offset, value in self._uart.idle.items()}
        reads[self._base + receiver.status] = status
        if receiver.data is not None:
            reads[self._base + receiver.data] = take
        return reads

    def registers(self, machine: Machine) -> dict[int, int]:
        """Return the written values of the UART's registers, by offset."""
        inside = range(self._base, self._base + _REGISTERS)
        found = {at - self._base: v for at, v in machine.registers.items() if at in inside}
        return found | {_DIVIDER: self._divider}

    def _is_divider(self, machine: Machine) -> bool:
        return bool(machine.registers.get(self._base + _LCR, 0) & _LCR_DIVIDER)

    def listen(self, machine: Machine) -> None:
        """Record the sent bytes."""

        def send(data: bytes) -> None:
            assert self._uart.enabled(self.registers(machine)), "sent before the UART was on"
            if not self.sent:
                self.before = dict(machine.registers)
            self.sent += data

        def written(address: int, value: int) -> None:
            offset = address - self._base
            if 0 <= offset < _REGISTERS:
                is_on = self._uart.enabled(self.registers(machine))
                assert is_on or not self._has_been_on, "the transmitter was turned off"
                self._has_been_on = is_on
            if offset == self._uart.receiver.clear and value & self._uart.receiver.overrun:
                self.overrun = False
            if self._kind == "console_ns16550" and self._is_divider(machine):
                shift = {0x00: 0, 0x04: 8}.get(offset)
                if shift is not None:
                    self._divider |= value << shift
                return
            if self._uart.data is not None and offset == self._uart.data:
                send(bytes([value]))
            elif self._uart.data is None and offset == _UARTE_START and value == 1:
                at = self._base
                pointer = machine.registers[at + _UARTE_POINTER]
                assert pointer >> 28 == 2, "DMA reads RAM alone"
                send(machine.memory(pointer, machine.registers[at + _UARTE_COUNT]))
            elif self._uart.data is None and offset == _UARTE_RECEIVED:
                self._moved = False
            elif self._uart.data is None and offset == _UARTE_RECEIVE and value == 1:
                assert self._uart.receiver.on(self.registers(machine)), "received while it is off"
                assert machine.registers[self._base + _UARTE_MOST] == 1
                if self.heard:
                    self._moved = True
                    machine.store(
                        machine.registers[self._base + _UARTE_INTO], bytes([self.heard.pop(0)])
                    )

        machine.written = written

    def baud(self, machine: Machine, clock_hz: int) -> float:
        """Return the bits per second."""
        return self._uart.baud(clock_hz, self.registers(machine))
