# SPDX-License-Identifier: Apache-2.0
"""A console by RTT, read like a debug probe: from the memory of a running program."""

import os
import struct
import subprocess
import time
from pathlib import Path

import pytest

from boards.board import Board, load_board
from tools.image.on_board import expect_uart
from tools.image.serial_port import PortError
from tools.simulator.simulate import SimulatorError, Tools, simulate

_BOARDS = os.environ["BOARDS"].split()
_ID = b"SEGGER RTT".ljust(16, b"\0")
_TEXT = b"waiting\n"


def _image(name: str) -> tuple[Path, Board]:
    board = load_board(Path(f"boards/{name}/{name}.json"))
    return Path(f"boards/tests/rtt_{name}.elf"), board


def _memory(elf: Path, board: Board, output: Path) -> bytes:
    """The memory for variables, while the program runs."""
    assert board.simulator is not None
    memory = board.memory(board.data)
    command = [
        *(str(Tools.of_build().qemu), "-M", board.simulator.machine, "-display", "none"),
        *("-serial", "null", "-monitor", "stdio", "-kernel", str(elf)),
    ]
    area = f"{memory.base:#x} {min(memory.size, 0x10000):#x}"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as qemu:
        found = b""
        while _TEXT not in found and qemu.poll() is None:
            _tell(qemu, f'memsave {area} "{output}"')
            time.sleep(0.1)
            found = output.read_bytes() if output.exists() else b""
        # That file may be half written; this one is whole once the simulator has ended.
        _tell(qemu, f'memsave {area} "{output}.whole"')
        _tell(qemu, "quit")
    return Path(f"{output}.whole").read_bytes()


def _tell(qemu: subprocess.Popen[bytes], command: str) -> None:
    assert qemu.stdin is not None
    qemu.stdin.write(f"{command}\n".encode())
    qemu.stdin.flush()


@pytest.mark.parametrize("name", _BOARDS)
def test_a_probe_finds_the_block_and_the_text(name: str, tmp_path: Path) -> None:
    elf, board = _image(name)
    found = _memory(elf, board, tmp_path / "memory")
    base = board.memory(board.data).base
    assert found.count(_ID) == 1
    at = found.index(_ID)
    assert at % 4 == 0
    up_count, down_count = struct.unpack_from("<ii", found, at + 16)
    assert (up_count, down_count) == (1, 1)
    _, ring, size, write, read, flags = struct.unpack_from("<6I", found, at + 24)
    assert (size, read, flags) == (1024, 0, 1)
    _, typed, *down = struct.unpack_from("<6I", found, at + 48)
    assert base <= typed and down == [16, 0, 0, 1]
    assert found[ring - base :][:write] == _TEXT
    # A probe searches RAM: no other part of the program matches.
    assert elf.read_bytes().count(_ID) == 0


def test_what_has_no_probe_says_so() -> None:
    elf, board = _image(_BOARDS[0])
    with pytest.raises(SimulatorError, match="console of this image is RTT"):
        simulate(elf, board)
    with pytest.raises(PortError, match="rtt, not a serial port"):
        expect_uart(board)
