# SPDX-License-Identifier: Apache-2.0
"""Serial port of a board's console."""

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
"""Baud rate of the boards' consoles (boards/uarts.bzl)."""

_PORTS = Path("/dev")
_LINE = 4096
_RATES = {
    int(name[1:]): getattr(termios, name) for name in dir(termios) if re.match(r"B[1-9]", name)
}


class PortError(Exception):
    """No port to read from; the text gives the remedy."""


class SeveralPortsError(PortError):
    """There are several ports, and none was chosen."""


class PortGoneError(PortError):
    """The port is gone: unplugged, or its other end was closed."""

    def __init__(self) -> None:
        super().__init__("the serial port is gone (was the board unplugged?)")


def _listed(ports: Sequence[Path], devices: Sequence[UsbDevice]) -> str:
    """Return each port, with the known facts of its device."""
    lines = []
    for port in ports:
        names = [f"{one.name}, {one.serial}" for one in devices if port.name in one.ports]
        lines.append("\n  --port=" + "  ".join([str(port), *names]))
    return "".join(lines)


def _of_devices(folder: Path, devices: Sequence[UsbDevice]) -> list[Path]:
    return [folder / name for one in devices for name in one.ports]


def _with_serial(number: str, devices: Sequence[UsbDevice]) -> list[UsbDevice]:
    """Return the devices with a serial number; leading zeros are often left out."""
    asked = number.lower().lstrip("0")
    return [one for one in devices if asked and one.serial.lower().lstrip("0") == asked]


def _named(given: str, folder: Path, devices: Sequence[UsbDevice]) -> list[Path]:
    """Return the ports selected by --port=: a path, a name in /dev, a device's vendor:product or
    serial number.
    """
    path = Path(os.environ.get("BUILD_WORKING_DIRECTORY", ""), given)
    for port in (path, folder / given):
        if port.exists():
            return [port]
    by_number = [one for one in devices if f"{one.vendor}:{one.product}" == given.lower()]
    found = _of_devices(folder, by_number or _with_serial(given, devices))
    if not found:
        raise PortError(
            f"{given} does not exist: --port= takes a path, or the vendor:product or serial "
            "number of a USB device with a serial port (see lsusb)"
        )
    return found


def find_port(
    given: str,
    probe: str = "",
    folder: Path = _PORTS,
    devices: Sequence[UsbDevice] | None = None,
) -> Path:
    """Return the requested port, or the only port of a USB device.

    Args:
        given: value of --port=, "" if none.
        probe: serial number of the used probe; only its ports are accepted.
        folder: location of ports.
        devices: connected devices.

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
            "no serial port of a USB device was found. Connect the board, or give its port with "
            "--port="
        )
    if len(found) > 1:
        listed = _listed(found, devices)
        raise SeveralPortsError(f"several serial ports were found; choose one with{listed}")
    return found[0]


def may_not_use(port: Path) -> str:
    """Return the message for a user without access."""
    return f"you may not use {port}: `sudo usermod -aG dialout $USER`, then log in again"


def open_port(port: Path, baud: int = BAUD) -> int:
    """Open a port with 8 bits, no parity, one stop bit; earlier input is dropped.

    Raises:
        PortError: it cannot be opened, or another program has it.
    """
    if baud not in _RATES:
        raise PortError(
            f"{baud} baud is not supported. Choices: {', '.join(map(str, sorted(_RATES)))}"
        )
    in_use = f"another program has {port} open: close it (`fuser -v {port}` names it)"
    try:
        descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except PermissionError as error:
        raise PortError(may_not_use(port)) from error
    except OSError as error:
        busy = error.errno == errno.EBUSY
        raise PortError(in_use if busy else f"{port} cannot be opened: {error.strerror}") from error
    try:
        # Two readers would each get a part of the text.
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
        raise PortError(f"{port} is not a serial port") from error
    return descriptor


def open_when_there(
    given: str, probe: str, baud: int, seconds: float, folder: Path = _PORTS
) -> int:
    """Find and open the port of a restarted board. The port appears after a moment and belongs to
    root first. Then modem detection may hold it, and finally the user has access.
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
    """Yield received and arriving data, until `silence` seconds pass without any (0: no limit). If
    `typed` is given, its input is sent meanwhile up to its end, at the speed of the port.

    Raises:
        PortGoneError: the port is gone, or a pipe's other end is closed.
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
