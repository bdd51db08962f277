# SPDX-License-Identifier: Apache-2.0
"""The serial port that a board's console arrives at."""

import codecs
import contextlib
import errno
import fcntl
import os
import re
import select
import termios
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.image.usb import UsbDevice, usb_devices

BAUD = 115200
"""What boards' consoles have (boards/uarts.bzl)."""

_PORTS = Path("/dev")
_LINE = 4096
_RATES = {
    int(name[1:]): getattr(termios, name) for name in dir(termios) if re.match(r"B[1-9]", name)
}


class PortError(Exception):
    """There is no port to read from; the text says what to do."""


class SeveralPortsError(PortError):
    """There are several ports, and none was chosen."""


class PortGoneError(PortError):
    """The port is gone: unplugged, or its other end was closed."""

    def __init__(self) -> None:
        super().__init__("the serial port is gone (was the board unplugged?)")


def _listed(ports: Sequence[Path], devices: Sequence[UsbDevice]) -> str:
    """Each port, with what is known of the device that it belongs to."""
    lines = []
    for port in ports:
        names = [f"{one.name}, {one.serial}" for one in devices if port.name in one.ports]
        lines.append("\n  --port=" + "  ".join([str(port), *names]))
    return "".join(lines)


def _of_devices(folder: Path, devices: Sequence[UsbDevice]) -> list[Path]:
    return [folder / name for one in devices for name in one.ports]


def _with_serial(number: str, devices: Sequence[UsbDevice]) -> list[UsbDevice]:
    """The devices with a serial number; zeros in front of it are often left out."""
    asked = number.lower().lstrip("0")
    return [one for one in devices if asked and one.serial.lower().lstrip("0") == asked]


def _named(given: str, folder: Path, devices: Sequence[UsbDevice]) -> list[Path]:
    """The ports that --port= means: a path, a name in /dev, a device's vendor:product or serial
    number.
    """
    path = Path(os.environ.get("BUILD_WORKING_DIRECTORY", ""), given)
    for port in (path, folder / given):
        if port.exists():
            return [port]
    by_number = [one for one in devices if f"{one.vendor}:{one.product}" == given.lower()]
    found = _of_devices(folder, by_number or _with_serial(given, devices))
    if not found:
        raise PortError(
            f"{given} is not there: --port= is a path, or the vendor:product or serial number of a "
            "USB device that has a serial port, as lsusb shows them"
        )
    return found


def find_port(
    given: str,
    probe: str = "",
    folder: Path = _PORTS,
    devices: Sequence[UsbDevice] | None = None,
) -> Path:
    """Returns the port that is asked for, or the only one of a USB device that there is.

    Args:
        given: what --port= says, "" if nothing.
        probe: serial number of the probe that is used; of its ports there is no other meant.
        folder: where ports are.
        devices: what is connected.

    Raises:
        PortError: there is none.
        SeveralPortsError: there are several.
    """
    if devices is None:
        devices = usb_devices()
    if given:
        found = _named(given, folder, devices)
    else:
        found = _of_devices(folder, _with_serial(probe, devices)) or sorted(
            [*folder.glob("ttyACM*"), *folder.glob("ttyUSB*")]
        )
    if not found:
        raise PortError(
            "no serial port of a USB device was found: is the board connected? "
            "Otherwise say which one with --port="
        )
    if len(found) > 1:
        listed = _listed(found, devices)
        raise SeveralPortsError(f"several serial ports were found: say which one with{listed}")
    return found[0]


def may_not_use(port: Path) -> str:
    """What a user is told who may not."""
    return f"you may not use {port}: `sudo usermod -aG dialout $USER`, then log in again"


def open_port(port: Path, baud: int = BAUD) -> int:
    """Opens a port with 8 bits, no parity, one stop bit; what it got so far is dropped.

    Raises:
        PortError: it cannot be opened, or another program has it.
    """
    if baud not in _RATES:
        raise PortError(f"{baud} baud is none of {', '.join(map(str, sorted(_RATES)))}")
    in_use = f"another program has {port} open: close it (`fuser -v {port}` says which)"
    try:
        descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except PermissionError as error:
        raise PortError(may_not_use(port)) from error
    except OSError as error:
        busy = error.errno == errno.EBUSY
        raise PortError(in_use if busy else f"{port} cannot be opened: {error.strerror}") from error
    try:
        # Of two readers each would get a part of the text.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.ioctl(descriptor, termios.TIOCEXCL)
        attributes = termios.tcgetattr(descriptor)
        attributes[0] = attributes[1] = attributes[3] = 0  # nothing is changed on its way
        attributes[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
        attributes[4] = attributes[5] = _RATES[baud]
        attributes[6][termios.VMIN], attributes[6][termios.VTIME] = 1, 0  # no bytes: it is gone
        termios.tcsetattr(descriptor, termios.TCSANOW, attributes)
        termios.tcflush(descriptor, termios.TCIFLUSH)
    except BlockingIOError as error:
        os.close(descriptor)
        raise PortError(in_use) from error
    except (termios.error, OSError) as error:
        os.close(descriptor)
        raise PortError(f"{port} is no serial port") from error
    return descriptor


def open_when_there(
    given: str, probe: str, baud: int, seconds: float, folder: Path = _PORTS
) -> int:
    """Finds and opens the port of a board that has restarted. It is there in a moment, and the
    user's a moment later: first it is root's, and then looked at by what searches for modems.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return open_port(find_port(given, probe, folder), baud)
        except PortError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(0.1)


def read_chunks(
    descriptor: int, silence: float, typed: int | None, received: bytes = b""
) -> Iterator[str]:
    """Yields what was received and what arrives, until nothing came for `silence` seconds (0:
    without end). What can be read from `typed` meanwhile, if it is given, is sent, up to its end,
    as the port takes it.

    Raises:
        PortGoneError: the port is gone, or nothing is at a pipe's other end.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")  # letters of several bytes
    gone = None
    try:
        if received:
            yield decoder.decode(received)
        for chunk in _read_bytes(descriptor, silence, typed):
            yield decoder.decode(chunk)
    except PortGoneError as error:
        gone = error
    if begun := decoder.decode(b"", final=True):
        yield begun
    if gone is not None:
        raise gone


def _read_bytes(descriptor: int, silence: float, typed: int | None) -> Iterator[bytes]:
    unsent = b""
    has_ended = typed is None
    end = time.monotonic() + silence
    while True:
        sources = [descriptor]
        if typed is not None and not unsent and not has_ended:
            sources.append(typed)
        left = max(0.0, end - time.monotonic()) if silence else None
        ready, takes, _ = select.select(sources, [descriptor] if unsent else [], [], left)
        if silence and descriptor not in ready and time.monotonic() >= end:
            return
        try:
            if descriptor in ready:
                with contextlib.suppress(BlockingIOError):
                    chunk = os.read(descriptor, _LINE)
                    if not chunk:
                        raise PortGoneError
                    yield chunk
                    end = time.monotonic() + silence
            if takes:
                with contextlib.suppress(BlockingIOError):
                    unsent = unsent[os.write(descriptor, unsent) :]
        except OSError as error:
            raise PortGoneError from error
        if typed is not None and typed in ready:
            unsent = os.read(typed, _LINE)
            has_ended = not unsent
