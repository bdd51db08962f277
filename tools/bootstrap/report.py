# SPDX-License-Identifier: Apache-2.0
"""What the user is told while something is set up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


class SetupError(Exception):
    """Something cannot be set up; the text says what, why and, where known, what to do."""


def say(text: str) -> None:
    """Prints one line of progress to stderr."""
    print(f"pilotlight: {text}", file=sys.stderr, flush=True)


def give(path: Path) -> None:
    """Hands a result to the caller: in the file that PILOTLIGHT_RESULT names, else on stdout."""
    if file := os.environ.get("PILOTLIGHT_RESULT"):
        Path(file).write_text(f"{path}\n")
    else:
        print(path)


def owned(command: Sequence[str | Path]) -> list[str | Path]:
    """Returns a command that ends when this process does, whatever ends it.

    Else a download would go on after an interruption, in the way of the next one.
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *command] if setpriv else [*command]


def run(doing: str, command: Sequence[str | Path]) -> str:
    """Runs a program and returns what it prints.

    Raises:
        SetupError: its exit status is not 0; the text ends with what it said.
    """
    done = subprocess.run(owned(command), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SetupError(f"{doing}: {command[0]} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def run_main(what: str, main: Callable[[], None], by_hand: str = "") -> int:
    """Runs a program's main function and returns its exit status, errors told on stderr."""
    try:
        main()
    except (SetupError, OSError) as error:
        say(f"cannot set up {what}: {error}")
        if by_hand:
            say(by_hand)
        return 1
    except KeyboardInterrupt:
        say("interrupted; run the command again to go on from here")
        return 130
    return 0
