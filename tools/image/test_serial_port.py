# SPDX-License-Identifier: Apache-2.0
"""Serial port, simulated by the other end of a pseudo-terminal."""

import errno
import os
import pty
import select
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.image.serial_port import (
    PortError,
    PortGoneError,
    find_port,
    open_port,
    open_when_there,
    read_chunks,
)
from tools.image.testing.serial_line import serial_line
from tools.image.usb import UsbDevice

line = pytest.fixture(serial_line)


# A kit with a two-port probe, a board with one port, an adapter of another kind, and a mouse.
_CONNECTED = [
    UsbDevice("1366", "1051", "J-Link", "001050226191", ("ttyACM0", "ttyACM1")),
    UsbDevice("0d28", "0204", "BBC micro:bit CMSIS-DAP", "99053602", ("ttyACM2",)),
    UsbDevice("10c4", "ea60", "CP2102", "0001", ("ttyUSB0",)),
    UsbDevice("046d", "c077", "Mouse", "", ()),
]


def test_the_only_port(tmp_path: Path) -> None:
    with pytest.raises(PortError, match="Connect the board"):
        find_port("", folder=tmp_path, devices=[])
    (tmp_path / "ttyACM0").touch()
    assert find_port("", folder=tmp_path, devices=[]) == tmp_path / "ttyACM0"
    (tmp_path / "ttyUSB1").touch()
    with pytest.raises(PortError) as error:
        find_port("", folder=tmp_path, devices=_CONNECTED)
    assert str(error.value).splitlines() == [
        "several serial ports were found; choose one with",
        f"  --port={tmp_path}/ttyACM0  J-Link, 001050226191",
        f"  --port={tmp_path}/ttyUSB1",
    ]


@pytest.mark.parametrize(
    ("given", "probe", "found"),
    [
        ("0d28:0204", "", "ttyACM2"),
        ("0D28:0204", "", "ttyACM2"),
        ("10c4:ea60", "99053602", "ttyUSB0"),
        ("99053602", "", "ttyACM2"),
        ("ttyACM1", "", "ttyACM1"),
        ("", "99053602", "ttyACM2"),
        ("", "099053602", "ttyACM2"),
        ("1", "", "ttyUSB0"),
        ("", "1050226191", "choose one with(.|\n)*ttyACM0  J-Link(.|\n)*ttyACM1  J-Link"),
        ("1366:1051", "", "choose one with(.|\n)*ttyACM0  J-Link(.|\n)*ttyACM1  J-Link"),
        ("046d:c077", "", "046d:c077 does not exist: --port= takes a path, or the vendor:product"),
        ("ttyX", "", "ttyX does not exist"),
    ],
)
def test_a_port_by_its_device(tmp_path: Path, given: str, probe: str, found: str) -> None:
    for one in _CONNECTED:
        for port in one.ports:
            (tmp_path / port).touch()
    if found.startswith("tty") and " " not in found:
        assert find_port(given, probe, tmp_path, _CONNECTED) == tmp_path / found
    else:
        with pytest.raises(PortError, match=found):
            find_port(given, probe, tmp_path, _CONNECTED)


def test_a_port_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is relative to Bazel's working folder."""
    port = tmp_path / "a folder" / "port"
    port.parent.mkdir()
    port.touch()
    assert find_port(str(port), devices=[]) == port
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    assert find_port("a folder/port", devices=[]) == port


def test_another_program_has_the_port(line: tuple[int, str]) -> None:
    port = open_port(Path(line[1]))
    with pytest.raises(PortError, match=r"another program has \S+ open: close it \(`fuser -v "):
        open_port(Path(line[1]))
    os.close(port)


def test_a_port_that_appears_is_not_the_users_at_once(
    tmp_path: Path, line: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The port is root's until udev has processed it. Then modem detection may hold it."""
    port, there = tmp_path / "ttyACM0", os.open
    answers = [PermissionError(errno.EACCES, ""), OSError(errno.EBUSY, ""), None]

    def open_(path: Path, mode: int) -> int:
        assert path == port
        if (answer := answers.pop(0)) is not None:
            raise answer
        return there(path, mode)

    threading.Timer(0.3, port.symlink_to, (line[1],)).start()
    monkeypatch.setattr("tools.image.serial_port.os.open", open_)
    os.close(open_when_there("", "", 115200, 20, tmp_path))
    answers[:] = [PermissionError(errno.EACCES, "")]
    with pytest.raises(PortError, match="you may not use .*ttyACM0: `sudo usermod"):
        open_when_there("", "", 115200, 0, tmp_path)


def test_what_is_no_port(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", Path(os.devnull)):
        with pytest.raises(PortError, match=f"{path} is not a serial port"):
            open_port(path)
    with pytest.raises(PortError, match="cannot be opened: Is a directory"):
        open_port(tmp_path)


def test_the_rate(line: tuple[int, str]) -> None:
    descriptor = open_port(Path(line[1]), 9600)
    assert termios.tcgetattr(descriptor)[4:6] == [termios.B9600, termios.B9600]
    os.close(descriptor)
    with pytest.raises(PortError, match=r"^123 baud is not supported.* 9600, .* 115200, "):
        open_port(Path(line[1]), 123)


def test_bytes_arrive_as_they_are(line: tuple[int, str]) -> None:
    descriptor = open_port(Path(line[1]))
    os.write(line[0], b"a\r\nb\x03\x11\n")
    with Path(os.devnull).open() as nothing:
        chunks = read_chunks(descriptor, 0.2, nothing.fileno())
        assert "".join(chunks) == "a\r\nb\x03\x11\n"
    os.close(descriptor)


def test_a_letter_arrives_in_two_parts(line: tuple[int, str]) -> None:
    descriptor = open_port(Path(line[1]))
    with Path(os.devnull).open() as nothing:
        chunks = read_chunks(descriptor, 0.2, nothing.fileno())
        os.write(line[0], b"21 \xc2")
        begun = next(chunks)
        os.write(line[0], b"\xb0C\xff\n")
        assert begun + "".join(chunks) == "21 °C\N{REPLACEMENT CHARACTER}\n"
    os.close(descriptor)


def test_half_a_letter_is_there_at_the_end(line: tuple[int, str]) -> None:
    descriptor = open_port(Path(line[1]))
    with Path(os.devnull).open() as nothing:
        os.write(line[0], b"21 \xc2")
        chunks = read_chunks(descriptor, 0.2, nothing.fileno())
        assert "".join(chunks) == "21 \N{REPLACEMENT CHARACTER}"
    os.close(descriptor)


@pytest.fixture
def typed() -> Iterator[tuple[int, int]]:
    """Yield standard input, and the end to type at."""
    typed, keyboard = os.pipe()
    yield typed, keyboard
    os.close(typed)
    os.close(keyboard)


_MUCH = bytes(range(250)) * 240  # more than a port's memory, less than a pipe's


def test_a_board_that_takes_nothing_is_heard(
    line: tuple[int, str], typed: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def waited(*arguments: Any) -> tuple[list[int], list[int], list[int]]:
        waits.append(arguments[3])
        return select_(*arguments)

    select_ = select.select
    monkeypatch.setattr(select, "select", waited)
    port = open_port(Path(line[1]))
    os.write(typed[1], _MUCH)
    chunks = read_chunks(port, 1, typed[0])
    for said in ("one", "two"):
        os.write(line[0], said.encode())
        assert next(chunks) == said
    assert not list(chunks)
    assert max(waits) <= 1  # second
    assert len(waits) < 1000  # it does not spin
    os.close(port)


def test_much_is_typed_to_a_slow_board(line: tuple[int, str], typed: tuple[int, int]) -> None:
    port = open_port(Path(line[1]))
    os.write(typed[1], _MUCH)
    heard = bytearray()

    def board() -> None:
        while len(heard) < len(_MUCH):
            heard.extend(os.read(line[0], 1000))
            time.sleep(0.002)
        os.write(line[0], b"enough")

    thread = threading.Thread(target=board, daemon=True)
    thread.start()
    assert "".join(read_chunks(port, 2, typed[0])) == "enough"
    thread.join(10)
    assert heard == _MUCH
    os.close(port)


@pytest.mark.parametrize("says", [("one",), ("one", "two")])
def test_a_board_is_unplugged_while_text_is_typed(
    typed: tuple[int, int], says: tuple[str, ...]
) -> None:
    """After one: text is there to be read. After two: it has been read, and the port takes it."""
    board, ours = pty.openpty()
    port = open_port(Path(os.ttyname(ours)))
    chunks = read_chunks(port, 5, typed[0])
    for said in says:
        os.write(typed[1], b"hello")
        os.write(board, said.encode())
        assert select.select([port], [], [], 5)[0]
        assert next(chunks) == said
        os.write(typed[1], b"hello")
    os.close(board)
    with pytest.raises(PortGoneError, match="was the board unplugged"):
        list(chunks)
    os.close(port)
    os.close(ours)
