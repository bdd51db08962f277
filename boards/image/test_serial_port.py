# SPDX-License-Identifier: Apache-2.0
"""A serial port, played by the other end of a pseudo-terminal."""

import os
import pty
import select
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from boards.image.serial_port import PortError, find_port, open_port, read_chunks
from boards.image.testing.serial_line import serial_line

line = pytest.fixture(serial_line)


def test_which_port(tmp_path: Path) -> None:
    with pytest.raises(PortError, match="is the board connected"):
        find_port("", tmp_path)
    (tmp_path / "ttyACM0").touch()
    assert find_port("", tmp_path) == tmp_path / "ttyACM0"
    (tmp_path / "ttyUSB1").touch()
    with pytest.raises(PortError, match="several serial ports .*ttyACM0, .*ttyUSB1"):
        find_port("", tmp_path)
    assert find_port(str(tmp_path / "ttyUSB1")) == tmp_path / "ttyUSB1"
    with pytest.raises(PortError, match="ttyX is not there"):
        find_port(str(tmp_path / "ttyX"))


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


@pytest.fixture
def typed() -> Iterator[tuple[int, int]]:
    """Standard input, and the end that is typed at."""
    typed, keyboard = os.pipe()
    yield typed, keyboard
    os.close(typed)
    os.close(keyboard)


_MUCH = bytes(range(250)) * 240  # more than a port's memory, less than a pipe's


def test_a_board_that_takes_nothing_is_heard(line: tuple[int, str], typed: tuple[int, int]) -> None:
    port = open_port(Path(line[1]))
    os.write(typed[1], _MUCH)
    chunks = read_chunks(port, 1, typed[0])
    start = time.monotonic()
    for said in ("one", "two"):
        os.write(line[0], said.encode())
        assert next(chunks) == said
    assert not list(chunks)
    assert time.monotonic() - start < 5
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
    assert not list(chunks)
    os.close(port)
    os.close(ours)
