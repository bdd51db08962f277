# SPDX-License-Identifier: Apache-2.0
"""Finds the source tree and the files in it."""

import fnmatch
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Skipped folders if git cannot list the sources (an unpacked archive).
_NOT_SOURCES = {".git", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"}


def workspace_root() -> Path:
    """Return the source tree: Bazel names it in `bazel run`; a test follows a link into it."""
    if folder := os.environ.get("BUILD_WORKSPACE_DIRECTORY"):
        return Path(folder)
    return Path("WORKSPACE").resolve(strict=True).parent


def _tracked_or_new(root: Path) -> list[str] | None:
    try:
        listed = subprocess.run(
            ["git", "-c", f"safe.directory={root}", "ls-files", "-z", "-co", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        return None
    return listed.stdout.split("\0") if listed.returncode == 0 else None


def _all(root: Path) -> list[str]:
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [
            name for name in folders if name not in _NOT_SOURCES and not name.startswith("bazel-")
        ]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return found


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def source_files(root: Path, patterns: Sequence[str], exclude: Sequence[str] = ()) -> list[str]:
    """Return the sources matching any of `patterns` and none of `exclude`, in order.

    Names are relative to the root. Sources are the files git tracks or would track; a `*` in a
    pattern also matches folders.
    """
    listed = _tracked_or_new(root)
    names = _all(root) if listed is None else listed
    return sorted(
        name
        for name in set(names)
        if _matches(name, patterns) and not _matches(name, exclude) and (root / name).is_file()
    )
