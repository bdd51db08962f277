# SPDX-License-Identifier: Apache-2.0
"""GDB on simulated boards: `.debug`, and GDB's `load` onto a board without a program."""

import dataclasses
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from absl.testing import flagsaver

from boards.board import Board, load_board
from tools.image.debug import DebugError, debug, find_gdb, main, on_the_board
from tools.simulator.elf import Elf
from tools.simulator.simulate import Tools, qemu_command

_BOARDS = os.environ["BOARDS"].split()


def _program(name: str) -> tuple[Path, Board]:
    elf = Path(f"boards/tests/hello.{name}.elf").resolve()
    return elf, load_board(Path(f"boards/{name}/{name}.json"))


def _debug(elf: Path, command: Sequence[str], *steps: str) -> int:
    """Runs steps of GDB's."""
    further = ["-nx", "-batch", *(part for step in steps for part in ("-ex", step))]
    return debug(elf, command, find_gdb(""), further)


@pytest.mark.parametrize("name", _BOARDS)
def test_the_debugger_finds_the_program_stopped_at_its_start(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    elf, board = _program(name)
    command = qemu_command(elf, board, Tools.of_build())
    assert _debug(elf, command, 'printf "at %#x\\n", $pc', "break main", "continue", "kill") == 0
    said, complaints = capfd.readouterr()
    assert "Python" not in complaints
    assert f"at {Elf(elf).values['pl_reset'] & ~1:#x}\n" in said
    assert re.search(r"^Breakpoint 1, main \(\) at boards/tests/programs/hello.c:\d+$", said, re.M)
    assert "PL:PASS" not in said


@pytest.mark.parametrize("name", _BOARDS)
def test_load_puts_an_image_onto_an_empty_board(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    elf, board = _program(name)
    command = qemu_command(elf, board, Tools.of_build())
    assert command[-2:] == ["-kernel", str(elf)]
    assert _debug(elf, command[:-2], "load", "compare-sections", "continue") == 0
    said = capfd.readouterr().out
    loaded = re.findall(r"^Loading section (\S+), size 0x[0-9a-f]+ lma ", said, re.M)
    assert {".vectors", ".text"} <= set(loaded)
    # GDB reads back and compares the written data.
    assert re.findall(r"^Section (\S+), range .*: (\S+)$", said, re.M) == [
        (section, "matched.") for section in loaded
    ]
    assert "PL:STAT answers 42\nPL:PASS\n" in said
    assert "exited normally" in said


def test_a_debugger_at_the_server_of_a_probe(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """QEMU's own server plays the probe's, on a board without a program."""
    elf, board = _program("mps2_an386")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = "{}:{}".format(*free.getsockname())
    command = [*qemu_command(elf, board, Tools.of_build())[:-2], "-S", "-gdb", f"tcp:{server}"]
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(Path.cwd()))
    steps = ["-nx", "-batch", "-ex", "load", "-ex", "continue"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as probe:
        with flagsaver.as_parsed(board="boards/mps2_an386/mps2_an386.json", server=server, gdb=""):
            main(["debug", str(elf), *steps])  # QEMU, unlike a probe, leaves with the program
        assert probe.wait(60) == 0
    assert "PL:STAT answers 42\nPL:PASS\n" in capfd.readouterr().out


def test_what_nothing_simulates_has_a_probe(capsys: pytest.CaptureFixture[str]) -> None:
    board = load_board(Path("boards/mps2_an386/mps2_an386.json"))
    stlink = {"method": "openocd", "files": ["interface/stlink.cfg", "target/stm32u5x.cfg"]}
    methods = ({"method": "st_flash"}, stlink, {"method": "jlink", "device": "STM32U575ZI"})
    assert on_the_board(dataclasses.replace(board, flash=methods)) == (
        "no simulator with a debugger's port runs the board mps2_an386. On the board itself: flash "
        "it, start its probe's server, `openocd -f interface/stlink.cfg -f target/stm32u5x.cfg`, "
        "and beside that `.debug -- --server=localhost:3333`"
    )
    none = on_the_board(dataclasses.replace(board, flash=({"method": "st_flash"},)))
    assert none == "no simulator with a debugger's port runs the board mps2_an386"


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_the_simulator_ends_where_the_terminal_is_closed(
    tmp_path: Path, number: signal.Signals
) -> None:
    elf, _ = _program(_BOARDS[0])
    debugger, reached = tmp_path / "gdb", tmp_path / "reached"
    debugger.write_text(f"#!/bin/sh\ncase $1 in -nx) exit;; esac\ntouch {reached}\nexec sleep 60\n")
    debugger.chmod(0o755)
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "tools.image.debug", f"--gdb={debugger}"),
            *(f"--board=boards/{_BOARDS[0]}/{_BOARDS[0]}.json", str(elf)),
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as program:
        while not reached.exists():
            assert program.poll() is None
            time.sleep(0.05)
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        assert len(children) == 2
        program.send_signal(number)
        assert program.wait(60) == 128 + number
    assert not [child for child in children if Path(f"/proc/{child}").exists()]


def test_generated_sources_are_in_the_configurations_folder(
    capfd: pytest.CaptureFixture[str],
) -> None:
    elf, board = _program(_BOARDS[0])
    command = qemu_command(elf, board, Tools.of_build())
    assert _debug(elf, command, "show substitute-path", "kill") == 0
    found = re.search(r"`bazel-out/cfg' -> `(.*)'", capfd.readouterr().out)
    assert found and elf.is_relative_to(Path(found[1]) / "bin")


def test_a_debugger_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is relative to Bazel's working folder."""
    own = tmp_path / "bin" / "gdb"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    assert find_gdb("bin/gdb") == find_gdb(str(own)) == str(own)


def test_a_debugger_without_arm_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DebugError, match="yours is not installed; without --gdb"):
        find_gdb("yours")
    foreign = tmp_path / "gdb"
    foreign.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('Undefined item: \"arm\".')\n")
    foreign.chmod(0o755)
    with pytest.raises(DebugError, match="does not support Arm"):
        find_gdb(str(foreign))
    foreign.write_bytes(b"\x7fELF of another machine")
    with pytest.raises(DebugError, match="gdb does not start: Exec format error"):
        find_gdb(str(foreign))
