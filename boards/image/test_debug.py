# SPDX-License-Identifier: Apache-2.0
"""A stand-in for GDB talks to the simulator in GDB's protocol."""

import sys
from pathlib import Path

import pytest

from boards.board import load_board
from boards.image.debug import DebugError, debug, find_gdb
from boards.simulator.elf import Elf
from boards.simulator.simulate import Tools, qemu_command

_ELF = Path("boards/tests/hello.microbit.elf").resolve()
_BOARD = load_board(Path("boards/microbit/microbit.json"))

# Connects where it is told to, asks for the registers, and writes down the program counter.
_GDB = """\
#!{python}
import socket, sys, time
folder, arguments = {folder!r}, sys.argv[1:]
(target,) = [a.split()[-1] for a in arguments if a.startswith("target remote")]
host, port = target.rsplit(":", 1)
for _ in range(200):
    try:
        server = socket.create_connection((host, int(port)))
        break
    except OSError:
        time.sleep(0.05)
server.settimeout(20)
server.sendall(b"+$g#67")
answer = b""
while b"#" not in answer:
    answer += server.recv(4096)
registers = answer[answer.index(b"$") + 1 : answer.index(b"#")]
with open(folder + "/seen", "w") as seen:
    print(arguments[1], registers[15 * 8 : 16 * 8].decode(), arguments[-1], file=seen)
sys.exit(7)
"""


def test_the_debugger_finds_the_program_stopped_at_its_start(tmp_path: Path) -> None:
    gdb = tmp_path / "gdb"
    gdb.write_text(_GDB.format(python=sys.executable, folder=str(tmp_path)))
    gdb.chmod(0o755)
    command = qemu_command(_ELF, _BOARD, Tools.of_build())
    assert debug(_ELF, command, str(gdb), ["-ex=continue"]) == 7
    program, counter, last = (tmp_path / "seen").read_text().split()
    assert (program, last) == (str(_ELF), "-ex=continue")
    reset = Elf(_ELF).values["pl_reset"] & ~1
    assert int.from_bytes(bytes.fromhex(counter), "little") == reset


def test_which_debugger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DebugError, match="nor gdb is not installed; .*apt install gdb-multiarch"):
        find_gdb("")
    for name in ("gdb", "gdb-multiarch", "mine"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert find_gdb("") == str(tmp_path / "gdb-multiarch")
    assert find_gdb("mine") == str(tmp_path / "mine")
    with pytest.raises(DebugError, match="yours is not installed"):
        find_gdb("yours")
