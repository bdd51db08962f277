# SPDX-License-Identifier: Apache-2.0
"""`.flash` as a program, with a stand-in for pyOCD: options, Ctrl-C, and a closed pipe."""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pyocd.__main__ import PyOCDTool
from pyocd.utility.cmdline import convert_session_options

_BOARD = Path("boards/microbit/microbit.json")


def _program(folder: Path, script: str, *options: str, **popen: Any) -> "subprocess.Popen[bytes]":
    """Start `.flash` of a micro:bit as a program in its own session, with a stand-in for pyOCD."""
    tool = folder / "pyocd"
    tool.write_text(f"#!/bin/sh\ncd '{folder}'\n{script}\n")
    tool.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{folder}:/usr/bin:/bin",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    files = (f"--board={_BOARD}", "app.hex", "app.bin")
    return subprocess.Popen(
        [sys.executable, "-m", "tools.image.flash", *files, *options],
        env=environment,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **{"stdout": subprocess.PIPE, **popen},
    )


def _wait_for(file: Path, program: "subprocess.Popen[bytes]") -> None:
    while not file.exists():
        assert program.poll() is None
        time.sleep(0.01)


def test_what_follows_goes_to_the_tool(tmp_path: Path) -> None:
    """`bazel run` appends these arguments after a second `--`."""
    options = ("--probe=42", "--", "-O", "auto_unlock=true")
    with _program(tmp_path, 'echo "$@" >called', *options) as program:
        program.communicate()
    assert program.returncode == 0
    words = (tmp_path / "called").read_text().split()
    assert words[-5:] == ["--uid", "42", str(Path("app.hex").resolve()), "-O", "auto_unlock=true"]
    read = PyOCDTool()._parser.parse_args(words)
    assert convert_session_options(read.options) == {"auto_unlock": True}


def test_the_tool_has_a_python_of_its_own(tmp_path: Path) -> None:
    """The program has ours, by PYTHONPATH."""
    with _program(tmp_path, "env >called") as program:
        program.communicate()
    assert program.returncode == 0
    named = {line.partition("=")[0] for line in (tmp_path / "called").read_text().splitlines()}
    assert "PATH" in named and not [name for name in named if name.startswith("PYTHON")]


# Possible reactions of a tool to an interruption.
_ENDS = {
    "it ends itself": "trap 'sleep 1; touch let_go; exit 2' INT; touch called; sleep 30 & wait",
    "it is told to": "trap '' INT; trap 'touch let_go; exit 2' TERM; touch called; sleep 30 & wait",
    "it is killed": "trap '' INT TERM; touch called let_go; exec sleep 30",
}


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, int, bytes]]:
    """Return folder, exit status and errors of each case. All run at once: interrupting and killing
    takes seconds.
    """
    folders = {name: tmp_path_factory.mktemp("interrupted") for name in _ENDS}
    found = {}
    with ExitStack() as stack:
        programs = {
            name: stack.enter_context(_program(folders[name], f"echo $$ >pid; {script}"))
            for name, script in _ENDS.items()
        }
        for name, program in programs.items():
            _wait_for(folders[name] / "called", program)
            os.killpg(program.pid, signal.SIGINT)
        for name, program in programs.items():
            _, errors = program.communicate()
            found[name] = (folders[name], program.returncode, errors)
    return found


@pytest.mark.parametrize("name", _ENDS)
def test_the_tool_ends_with_ctrl_c(
    interrupted: dict[str, tuple[Path, int, bytes]], name: str
) -> None:
    folder, status, errors = interrupted[name]
    assert status == 128 + signal.SIGINT
    assert errors == b"stopped\n"
    assert (folder / "let_go").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), 0)


def _is_gone(folder: Path) -> bool:
    try:
        os.kill(int((folder / "pid").read_text()), 0)
    except ProcessLookupError:
        return True
    return False


def test_ctrl_c_once_more_does_not_leave_the_tool_behind(tmp_path: Path) -> None:
    script = "trap 'touch told' INT; trap 'touch let_go; exit 2' TERM; touch called; "
    with _program(tmp_path, f"echo $$ >pid; {script} while :; do sleep 0.1; done") as program:
        _wait_for(tmp_path / "called", program)
        os.killpg(program.pid, signal.SIGINT)
        _wait_for(tmp_path / "told", program)
        os.killpg(program.pid, signal.SIGINT)
        _, errors = program.communicate()
    assert (program.returncode, errors) == (128 + signal.SIGINT, b"stopped\n")
    assert (tmp_path / "let_go").exists() and _is_gone(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_tool_ends_with_the_program_that_is_told_to(
    tmp_path: Path, number: signal.Signals
) -> None:
    """It alone, as by `timeout` or who closes the terminal."""
    script = "trap 'touch let_go; exit 2' TERM; touch called; while :; do sleep 0.1; done"
    with _program(tmp_path, f"echo $$ >pid; {script}") as program:
        _wait_for(tmp_path / "called", program)
        program.send_signal(number)
        _, errors = program.communicate()
    assert (program.returncode, errors) == (128 + number, b"")
    assert (tmp_path / "let_go").exists() and _is_gone(tmp_path)


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    """Before the tool has started; later the board is not left with half of an image."""
    with (
        open("/dev/full", "wb") as full,
        _program(tmp_path, "touch called", stdout=full) as program,
    ):
        _, errors = program.communicate()
    assert program.returncode == 1
    assert errors == b"what is written does not fit: [Errno 28] No space left on device\n"
    assert not (tmp_path / "called").exists()


def test_a_board_gets_all_where_nobody_reads_on(tmp_path: Path) -> None:
    script = "echo writing; until test -e closed; do sleep 0.1; done; seq 100000; touch written"
    with _program(tmp_path, script) as program:
        assert program.stdout is not None
        shown = [program.stdout.readline() for _ in range(2)]
        program.stdout.close()
        (tmp_path / "closed").touch()
        program.wait()
    assert shown[0].startswith(b"flashing ") and shown[1] == b"writing\n"
    assert (tmp_path / "written").exists()
    assert program.returncode == 0
