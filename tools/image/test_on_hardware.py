# SPDX-License-Identifier: Apache-2.0
"""`bazel test --config=hardware`, with a stand-in for pyOCD and a simulated board."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boards.board import load_board
from tools.image.testing.serial_line import serial_line
from tools.image.uf2 import read_hex
from tools.simulator.elf import Elf
from tools.simulator.simulate import Tools, qemu_command

_BOARD = Path("boards/microbit/microbit.json")

line = pytest.fixture(serial_line)


def _test_on_a_board(
    line: tuple[int, str], options: str = "", board: str = "microbit", seconds: int = 60
) -> "subprocess.Popen[str]":
    """Run the program of a board_test, like `bazel test --config=hardware` does."""
    elf = f"boards/tests/hello.{board}.elf"
    command = [sys.executable, "-m", "tools.image.run", f"--time_limit={seconds}", elf]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PILOTLIGHT_ON_BOARD": f"--port={line[1]} {options}",
    }
    return subprocess.Popen(
        [*command, f"--board=boards/{board}/{board}.json"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _flashes_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a stand-in for pyOCD on PATH, and return its memory file."""
    flashed = folder / "flashed.hex"
    tool = folder / "pyocd"
    tool.write_text(
        f'#!/bin/sh\necho Erasing...\nsleep 0.2\nfor last; do :; done\ncp "$last" "{flashed}"\n'
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return flashed


def _wait_for(flashed: Path, test: "subprocess.Popen[str]") -> None:
    while not flashed.exists() or not flashed.read_text().endswith(":00000001FF\n"):
        assert test.poll() is None, "nothing was flashed"
        time.sleep(0.01)


def test_a_test_on_a_board(
    tmp_path: Path, line: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU plays the board: it has only the flashed content, and its console is the port."""
    flashed = _flashes_to(tmp_path, monkeypatch)
    elf = Path("boards/tests/hello.microbit.elf")
    *board, kernel, _ = qemu_command(elf, load_board(_BOARD), Tools.of_build())
    assert kernel == "-kernel"
    with _test_on_a_board(line) as test:
        _wait_for(flashed, test)
        command = [*board, "-device", f"loader,file={flashed}"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=line[0]) as qemu:
            printed, _ = test.communicate()
            qemu.kill()
    assert test.returncode == 0
    assert printed.splitlines()[-2:] == ["PL:STAT answers 42", "PL:PASS"]
    stored = read_hex(flashed.read_text())
    for section in Elf(elf).sections:
        if section.allocated and section.stored and section.size:
            found = bytes(stored[section.load + i] for i in range(section.size))
            assert found == section.contents


def test_a_test_that_fails_on_a_board(
    tmp_path: Path, line: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flashed = _flashes_to(tmp_path, monkeypatch)
    with _test_on_a_board(line) as test:
        _wait_for(flashed, test)
        os.write(line[0], b"hello\nPL:FAIL it is Monday\n")
        _, said = test.communicate()
    assert test.returncode == 1
    assert said.splitlines()[-1] == "hello.microbit.elf: PL:FAIL it is Monday"


def test_a_test_of_the_host_runs_on_the_host(
    tmp_path: Path, line: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of several boards, the host among them."""
    flashed = _flashes_to(tmp_path, monkeypatch)
    with _test_on_a_board(line, board="host") as test:
        printed, _ = test.communicate()
    assert test.returncode == 0
    assert printed.splitlines()[-1] == "PL:PASS"
    assert not flashed.exists()


@pytest.mark.parametrize(
    ("tool", "options", "said"),
    [
        ("", "", "nothing is installed that flashes microbit:"),
        ("", "--port=/dev/nothing", "nothing is installed that flashes microbit:"),
        ("true", "--port=/dev/nothing", "/dev/nothing does not exist"),
        ("true", "--flash_tool=bossac", "the board microbit has no flash method bossac. Choices: "),
        (
            "echo No available debug probes are connected; exit 1",
            "",
            "no board was found: is its debug probe, or its boot loader, connected by USB?",
        ),
        ("exit 0", "", "hello.microbit.elf: nothing came for 1 s, and no PL:PASS before that"),
    ],
)
def test_a_test_without_its_board(
    tmp_path: Path,
    line: tuple[int, str],
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    options: str,
    said: str,
) -> None:
    readlink = shutil.which("readlink")  # Python's start-up needs it
    assert readlink is not None
    (tmp_path / "readlink").symlink_to(readlink)
    monkeypatch.setenv("PATH", str(tmp_path))
    if tool:
        (tmp_path / "pyocd").write_text(f"#!/bin/sh\n{tool}\n")
        (tmp_path / "pyocd").chmod(0o755)
    with _test_on_a_board(line, options, seconds=1) as test:
        _, errors = test.communicate()
    assert test.returncode != 0
    assert said in errors
