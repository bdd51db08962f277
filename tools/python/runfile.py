# SPDX-License-Identifier: Apache-2.0
"""Finder of files provided by Bazel for a Python program."""

from pathlib import Path

try:
    from python.runfiles import runfiles
except ImportError:  # the wheel
    runfiles = None


def runfile(name: str) -> Path | None:
    """Return the path of a runfile, None if it is missing or the program does not run in Bazel.

    Args:
        name: Pilotlight's name of the repository, and the path in it:
            "qemu/qemu-system-arm".
    """
    found = runfiles and runfiles.Create()
    path = found and found.Rlocation(name)
    return Path(path) if path and Path(path).exists() else None
