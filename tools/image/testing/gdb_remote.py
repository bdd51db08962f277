# SPDX-License-Identifier: Apache-2.0
"""A simulated core as a debugger's server shows it: memory, registers, running and stopping."""

import contextlib
import re
import select
import socket
import time
from collections.abc import Iterator
from pathlib import Path

_INTERRUPT = 2  # the signal
_MOST = 0x400  # bytes in a packet


class GdbRemote:
    """Connection to QEMU at `place`, a socket. QEMU waits before its first instruction.

    Attributes:
        running: True if the core runs.
        interrupted: True if it stopped on request, not at a breakpoint or the end.
    """

    def __init__(self, place: Path, seconds: float = 60):
        self._socket = _connected(place, seconds)
        self._received = b""
        self.running = self.interrupted = False
        self._numbers = self._register_numbers()

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of memory; zeros where there is nothing."""
        reply = self._ask(b"m%x,%x" % (address, size))
        return bytes(size) if reply.startswith(b"E") else bytes.fromhex(reply.decode())

    def write(self, address: int, data: bytes) -> None:
        """Write to memory; writes to unmapped addresses are lost."""
        for at in range(0, len(data), _MOST):
            piece = data[at : at + _MOST]
            self._ask(b"M%x,%x:%s" % (address + at, len(piece), piece.hex().encode()))

    def register(self, name: str) -> int:
        """Return a register, 0 if the core has none of this name."""
        if name not in self._numbers:
            return 0
        reply = self._ask(b"p%x" % self._numbers[name])
        return int.from_bytes(bytes.fromhex(reply.decode()), "little")

    def set_register(self, name: str, value: int, size: int = 4) -> None:
        """Write a register, if the core has one of this name."""
        if name in self._numbers:
            data = value.to_bytes(size, "little").hex().encode()
            self._ask(b"P%x=%s" % (self._numbers[name], data))

    def set_breakpoint(self, address: int) -> None:
        """Stop the core before an instruction."""
        self._ask(b"Z0,%x,2" % address)

    def clear_breakpoint(self, address: int) -> None:
        """Remove a breakpoint."""
        self._ask(b"z0,%x,2" % address)

    def step(self) -> None:
        """Execute one instruction."""
        self._ask(b"s")

    def go(self) -> None:
        """Let the core run."""
        self._send(b"c")
        self.running = True

    def poll(self, seconds: float | None = 0) -> None:
        """Update the state if the core has stopped."""
        if not self.running or not select.select([self._socket], [], [], seconds)[0]:
            return
        self.interrupted = self._packet().startswith(b"T%02x" % _INTERRUPT)
        self.running = False

    def stop(self) -> None:
        """Stop the core."""
        if self.running:
            self._socket.sendall(b"\x03")
            self.poll(None)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the core for an access: QEMU allows none while the core runs. It then runs on,
        except from a breakpoint.
        """
        ran = self.running
        self.stop()
        yield
        if ran and self.interrupted:
            self.go()

    def _ask(self, packet: bytes) -> bytes:
        self._send(packet)
        return self._packet()

    def _send(self, packet: bytes) -> None:
        self._socket.sendall(b"$%s#%02x" % (packet, sum(packet) & 0xFF))

    def _packet(self) -> bytes:
        """Return the next packet, b"" when the simulator is gone."""
        while not (found := re.search(rb"\$([^#]*)#..", self._received, re.DOTALL)):
            more = self._socket.recv(65536)
            if not more:
                return b""
            self._received += more
        self._received = self._received[found.end() :]
        self._socket.sendall(b"+")
        return found[1]

    def _document(self, name: str) -> str:
        reply = self._ask(b"qXfer:features:read:%s:0,ffff" % name.encode())
        assert reply[:1] == b"l", name
        return reply[1:].decode()

    def _register_numbers(self) -> dict[str, int]:
        numbers: dict[str, int] = {}
        last = -1
        for name in re.findall(r'<xi:include href="([^"]+)"', self._document("target.xml")):
            for reg in re.findall(r"<reg [^>]*>", self._document(name)):
                given = re.search(r"regnum=[\"'](\d+)", reg)
                last = int(given[1]) if given else last + 1
                called = re.search(r"name=[\"'](\w+)", reg)
                assert called
                numbers[called[1]] = last
        return numbers


def _connected(place: Path, seconds: float) -> socket.socket:
    """Connect to a socket. The file appears before the server listens, so try until it does."""
    deadline = time.monotonic() + seconds
    while True:
        found = socket.socket(socket.AF_UNIX)
        try:
            found.connect(str(place))
        except (ConnectionRefusedError, FileNotFoundError):
            found.close()
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)
        else:
            return found
