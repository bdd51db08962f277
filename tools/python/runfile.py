# SPDX-License-Identifier: Apache-2.0
"""Finds what Bazel gives a Python program to run with."""

from pathlib import Path

from python.runfiles import runfiles


def runfile(name: str) -> Path | None:
    """Returns the path of a runfile, None if it is not there or the program does not run in Bazel.

    Args:
        name: the repository, as Pilotlight calls it, and the path in it: "qemu/qemu-system-arm".
    """
    found = runfiles.Create()
    path = found and found.Rlocation(name)
    return Path(path) if path and Path(path).exists() else None
