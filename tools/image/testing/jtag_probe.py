# SPDX-License-Identifier: Apache-2.0
"""A debug probe on a simulated core: JTAG as OpenOCD's `remote_bitbang` has it, a character for
each change of the wires.
"""

import contextlib
import socket
from collections.abc import Mapping
from pathlib import Path

from tools.image.testing.debug_port import DebugPort
from tools.image.testing.gdb_remote import GdbRemote

# TAP states, and the next state for TMS low or high (IEEE 1149.1).
_RESET, _IDLE, _CAPTURE_DR, _SHIFT_DR, _UPDATE_DR, _CAPTURE_IR, _SHIFT_IR, _UPDATE_IR = range(8)
_SELECT_DR, _EXIT1_DR, _PAUSE_DR, _EXIT2_DR = range(8, 12)
_SELECT_IR, _EXIT1_IR, _PAUSE_IR, _EXIT2_IR = range(12, 16)
_NEXT = {
    _RESET: (_IDLE, _RESET),
    _IDLE: (_IDLE, _SELECT_DR),
    _SELECT_DR: (_CAPTURE_DR, _SELECT_IR),
    _CAPTURE_DR: (_SHIFT_DR, _EXIT1_DR),
    _SHIFT_DR: (_SHIFT_DR, _EXIT1_DR),
    _EXIT1_DR: (_PAUSE_DR, _UPDATE_DR),
    _PAUSE_DR: (_PAUSE_DR, _EXIT2_DR),
    _EXIT2_DR: (_SHIFT_DR, _UPDATE_DR),
    _UPDATE_DR: (_IDLE, _SELECT_DR),
    _SELECT_IR: (_CAPTURE_IR, _RESET),
    _CAPTURE_IR: (_SHIFT_IR, _EXIT1_IR),
    _SHIFT_IR: (_SHIFT_IR, _EXIT1_IR),
    _EXIT1_IR: (_PAUSE_IR, _UPDATE_IR),
    _PAUSE_IR: (_PAUSE_IR, _EXIT2_IR),
    _EXIT2_IR: (_SHIFT_IR, _UPDATE_IR),
    _UPDATE_IR: (_IDLE, _SELECT_DR),
}

_IR_BITS, _IR_CAPTURED = 4, 1
_ABORT, _DPACC, _APACC, _IDCODE = 0x8, 0xA, 0xB, 0xE
_BITS = {_ABORT: 35, _DPACC: 35, _APACC: 35, _IDCODE: 32}


class Tap:
    """A JTAG-DP's test access port."""

    def __init__(self, port: DebugPort, identity: int):
        self._port = port
        self._identity = identity
        self._state = _RESET
        self._instruction = _IDCODE
        self._shifted, self._bits = 0, 1

    def clock(self, tms: int, tdi: int) -> None:
        """Give a rising edge on TCK."""
        state = self._state
        if state in (_SHIFT_DR, _SHIFT_IR):
            self._shifted = self._shifted >> 1 | tdi << (self._bits - 1)
        elif state == _CAPTURE_IR:
            self._shifted, self._bits = _IR_CAPTURED, _IR_BITS
        elif state == _CAPTURE_DR:
            self._bits = _BITS.get(self._instruction, 1)
            is_transfer = self._instruction in (_DPACC, _APACC)
            self._shifted = self._port.result() if is_transfer else 0
            if self._instruction == _IDCODE:
                self._shifted = self._identity
        self._state = state = _NEXT[state][tms]
        if state == _UPDATE_IR:
            self._instruction = self._shifted
        elif state == _UPDATE_DR and self._instruction in (_DPACC, _APACC):
            self._port.transfer(self._instruction == _APACC, self._shifted)
        elif state == _RESET:
            self._instruction = _IDCODE

    def tdo(self) -> int:
        """Return the level of the output TDO."""
        return self._shifted & 1


class JtagProbe:
    """JTAG probe waiting for OpenOCD at `place`, a socket of this machine.

    The value `identity` is the core's IDCODE; `reads` maps addresses to words read differently from
    QEMU's.
    """

    def __init__(self, core: GdbRemote, place: Path, identity: int, reads: Mapping[int, int]):
        self._debug_port = DebugPort(core, reads)
        self._tap = Tap(self._debug_port, identity)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(place))
        self._server.listen()

    def serve(self) -> None:
        """Serve it until it goes."""
        connection, _ = self._server.accept()
        with connection, self._server:
            was_high = 0
            while wires := connection.recv(65536):
                answer = bytearray()
                for wire in wires:
                    if 0x30 <= wire < 0x38:  # TCK, TMS, TDI
                        is_high = wire & 4
                        if is_high and not was_high:
                            self._tap.clock(wire >> 1 & 1, wire & 1)
                        was_high = is_high
                    elif wire == ord("R"):
                        answer.append(0x30 | self._tap.tdo())
                    elif wire == ord("Q"):
                        break
                if answer:
                    connection.sendall(answer)
        with contextlib.suppress(ConnectionError):  # the simulator is gone
            self._debug_port.leave()
