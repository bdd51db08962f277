# SPDX-License-Identifier: Apache-2.0
"""Stand-in programs in tests, for tools found on PATH or by a variable."""

import shlex
import sys
from pathlib import Path


def python_script(path: Path, *arguments: str, folders: tuple[Path, ...] = ()) -> Path:
    """Write a program starting this Python, with the packages of this process.

    Args:
      path: of the program.
      arguments: of Python, before the program's own arguments.
      folders: first folders Python searches for modules.
    """
    packages = ":".join([*map(str, folders), *filter(None, sys.path)])
    command = shlex.join([sys.executable, *arguments])
    path.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(packages)} exec {command} "$@"\n')
    path.chmod(0o755)
    return path
