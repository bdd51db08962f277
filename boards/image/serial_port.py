# SPDX-License-Identifier: Apache-2.0
"""The serial port that a board's console arrives at."""

import codecs
import contextlib
import os
import select
import termios
import time
from collections.abc import Iterator
from pathlib import Path

_BAUD = termios.B115200
_LINE = 4096


class PortError(Exception):
    """There is no port to read from; the text says what to do."""


def find_port(given: str, folder: Path = Path("/dev")) -> Path:
    """Returns the port that was given, or the only one of a USB device that there is.

    Raises:
        PortError: there is none, or there are several.
    """
    if given:
        port = Path(given)
        if not port.exists():
            raise PortError(f"{port} is not there")
        return port
    found = sorted([*folder.glob("ttyACM*"), *folder.glob("ttyUSB*")])
    if not found:
        raise PortError(
            "no serial port of a USB device was found: is the board connected? "
            "Otherwise say which one with --port="
        )
    if len(found) > 1:
        ports = ", ".join(map(str, found))
        raise PortError(f"several serial ports were found, say which one with --port=: {ports}")
    return found[0]


def wait_for_port(given: str, seconds: float, folder: Path = Path("/dev")) -> Path:
    """As find_port, of a board that has restarted and whose port is there in a moment."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return find_port(given, folder)
        except PortError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(0.1)


def open_port(port: Path) -> int:
    """Opens a port at 115200 baud, 8 bits, no parity, one stop bit; what it got so far is dropped.

    Raises:
        PortError: it cannot be opened.
    """
    try:
        descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except PermissionError as error:
        raise PortError(
            f"you may not use {port}: `sudo usermod -aG dialout $USER`, then log in again"
        ) from error
    except OSError as error:
        raise PortError(f"{port} cannot be opened: {error}") from error
    attributes = termios.tcgetattr(descriptor)
    attributes[0] = attributes[1] = attributes[3] = 0  # nothing is changed on its way
    attributes[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
    attributes[4] = attributes[5] = _BAUD
    termios.tcsetattr(descriptor, termios.TCSANOW, attributes)
    termios.tcflush(descriptor, termios.TCIFLUSH)
    return descriptor


def read_chunks(descriptor: int, silence: float, typed: int) -> Iterator[str]:
    """Yields what arrives, until nothing came for `silence` seconds (0: without end), or the port
    is gone. What can be read from `typed` meanwhile is sent, up to its end, as the port takes it.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")  # letters of several bytes
    unsent = b""
    has_ended = False
    end = time.monotonic() + silence
    while True:
        sources = [descriptor] if unsent or has_ended else [descriptor, typed]
        left = max(0.0, end - time.monotonic()) if silence else None
        ready, takes, _ = select.select(sources, [descriptor] if unsent else [], [], left)
        if silence and descriptor not in ready and time.monotonic() >= end:
            return
        try:
            if descriptor in ready:
                with contextlib.suppress(BlockingIOError):
                    chunk = os.read(descriptor, _LINE)
                    if not chunk:
                        return
                    yield decoder.decode(chunk)
                    end = time.monotonic() + silence
            if takes:
                with contextlib.suppress(BlockingIOError):
                    unsent = unsent[os.write(descriptor, unsent) :]
        except OSError:  # unplugged
            return
        if typed in ready:
            unsent = os.read(typed, _LINE)
            has_ended = not unsent
