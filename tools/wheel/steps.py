# SPDX-License-Identifier: Apache-2.0
"""Programs that a command of the wheel runs one after the other, with a progress bar."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

_ROOT = Path(__file__).parents[2].name

_PROGRAM = """\
import os, runpy, sys
sys.path.append(os.getcwd())  # last: a user's calendar.py does not hide Python's own
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""

_INFORMATION = re.compile(r"^I\d{4} \S+ +\d+ \S+\] ")
"""Start of a log line of absl without a warning."""

_CLEAR = "\r\033[K"
_CELLS = 24  # of the bar


def program(module: str, arguments: Sequence[str | Path]) -> list[str]:
    """Return the command of a program of the wheel."""
    return [sys.executable, "-P", "-c", _PROGRAM, f"{_ROOT}.{module}", *map(str, arguments)]


def end_if_failed(status: int) -> None:
    """End with a program's status if it failed."""
    if status:
        sys.exit(status if status > 0 else 128 - status)


class WheelSteps:
    """Steps of a command.

    On a terminal a bar counts them and shows the last log line. Warnings and errors stay above it.
    Elsewhere each step is a line, and all output stays.
    """

    def __init__(self, count: int, on_terminal: bool):
        self._count = count
        self._on_terminal = on_terminal
        self._begun = 0
        self._text = ""

    def begin(self, text: str) -> None:
        """Begin the next step."""
        self._begun += 1
        self._text = text
        if self._on_terminal:
            self._draw()
        else:
            click.echo(text, err=True)

    def say(self, text: str) -> None:
        """Print a line that stays."""
        click.echo(f"{_CLEAR}{text}" if self._on_terminal else text, err=True)

    def run(self, module: str, arguments: Sequence[str | Path]) -> None:
        """Run a program of the wheel; end with its status if it fails."""
        command = program(module, arguments)
        if not self._on_terminal:
            return end_if_failed(subprocess.run(command).returncode)
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, errors="replace"
        ) as process:
            assert process.stderr is not None
            for line in process.stderr:
                information = _INFORMATION.sub("", line)
                if information == line:
                    self.say(line.rstrip())
                else:
                    self._text = information.rstrip()
                self._draw()
        end_if_failed(process.returncode)

    def _draw(self) -> None:
        done = _CELLS * (self._begun - 1) // self._count
        line = f"[{'#' * done}{'-' * (_CELLS - done)}] {self._begun}/{self._count} {self._text}"
        click.echo(f"{_CLEAR}{line[: shutil.get_terminal_size().columns - 1]}", err=True, nl=False)


@contextmanager
def steps(count: int) -> Iterator[WheelSteps]:
    """Yield the steps of a command; the bar is gone afterwards."""
    on_terminal = sys.stderr.isatty()
    try:
        yield WheelSteps(count, on_terminal)
    finally:
        if on_terminal:
            click.echo(_CLEAR, err=True, nl=False)
