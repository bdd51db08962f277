# SPDX-License-Identifier: Apache-2.0
"""Runs pip, also where Python came without it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.debian.apt import say
from tools.debian.cache import make_once
from tools.debian.prefix import fetch
from tools.debian.versions import read_versions

# `pip --python`, which installs into an environment that has no pip itself, came with 22.3.
_MINIMUM = (22, 3)


class PipError(Exception):
    """pip failed; it has said why on stderr."""


def _has_pip() -> bool:
    probe = subprocess.run(
        [sys.executable, "-m", "pip", "--version"], capture_output=True, text=True
    )
    words = probe.stdout.split()
    if probe.returncode != 0 or len(words) < 2:
        return False
    return tuple(int(part) for part in words[1].split(".")[:2]) >= _MINIMUM


def run_pip(arguments: Sequence[str]) -> None:
    """Runs pip with the machine's own settings (index, certificates); output goes to stderr.

    Raises:
        PipError: pip's exit status is not 0.
    """
    environment = dict(os.environ)
    if not _has_pip():
        suite = read_versions()["PIP_SUITE"]

        def make(work: Path, result: Path) -> None:
            say("this Python has no pip: fetching it from Debian (2 MB)")
            fetch(work, result, suite, ["python3-pip-whl"], ["ca-certificates"])

        folder = make_once(f"pip-{suite}", make)
        wheels = sorted((folder / "usr/share/python-wheels").glob("pip-*.whl"))
        environment["PYTHONPATH"] = str(wheels[-1])
    done = subprocess.run(
        [sys.executable, "-m", "pip", *arguments], env=environment, stdout=sys.stderr
    )
    if done.returncode != 0:
        raise PipError(f"pip {arguments[0]} ended with status {done.returncode}")
