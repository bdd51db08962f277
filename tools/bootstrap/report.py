# SPDX-License-Identifier: Apache-2.0
"""Messages to the user during setup."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


class SetupError(Exception):
    """Failed setup; the text gives the problem, its cause and, if known, a remedy."""


def say(text: str) -> None:
    """Print one line of progress to stderr."""
    print(f"pilotlight: {text}", file=sys.stderr, flush=True)


def give(path: Path) -> None:
    """Write a result to the caller: in the file given by PILOTLIGHT_RESULT, else on stdout."""
    if file := os.environ.get("PILOTLIGHT_RESULT"):
        Path(file).write_text(f"{path}\n")
    else:
        print(path)


def owned(command: Sequence[str | Path]) -> list[str | Path]:
    """Return a command that always ends together with this process.

    Otherwise a download would continue after an interruption and block the next one.
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *command] if setpriv else [*command]


def run(doing: str, command: Sequence[str | Path]) -> str:
    """Run a program and return its output.

    Raises:
        SetupError: its exit status is not 0; the text ends with its output.
    """
    done = subprocess.run(owned(command), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SetupError(f"{doing}: {command[0]} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def run_main(what: str, main: Callable[[], None], by_hand: str = "") -> int:
    """Run a program's main function and return its exit status; print errors on stderr."""
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
