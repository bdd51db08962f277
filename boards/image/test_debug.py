# SPDX-License-Identifier: Apache-2.0
"""GDB on simulated boards: `.debug`, and GDB's `load` onto a board that has no program yet."""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from boards.board import Board, load_board
from boards.image.debug import DebugError, debug, find_gdb
from boards.simulator.elf import Elf
from boards.simulator.simulate import Tools, qemu_command

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
    # GDB reads back what it wrote.
    assert re.findall(r"^Section (\S+), range .*: (\S+)$", said, re.M) == [
        (section, "matched.") for section in loaded
    ]
    assert "PL:STAT answers 42\nPL:PASS\n" in said
    assert "exited normally" in said


def test_generated_sources_are_in_the_configurations_folder(
    capfd: pytest.CaptureFixture[str],
) -> None:
    elf, board = _program(_BOARDS[0])
    command = qemu_command(elf, board, Tools.of_build())
    assert _debug(elf, command, "show substitute-path", "kill") == 0
    found = re.search(r"`bazel-out/cfg' -> `(.*)'", capfd.readouterr().out)
    assert found and elf.is_relative_to(Path(found[1]) / "bin")


def test_a_debugger_without_arm_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DebugError, match="yours is not installed; without --gdb"):
        find_gdb("yours")
    foreign = tmp_path / "gdb"
    foreign.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('Undefined item: \"arm\".')\n")
    foreign.chmod(0o755)
    with pytest.raises(DebugError, match="knows no Arm"):
        find_gdb(str(foreign))
