# SPDX-License-Identifier: Apache-2.0
"""Unpacks Debian packages into a folder and makes their programs run from there."""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tools.bootstrap.deb import MERGED, relink_absolute, unpack
from tools.bootstrap.download import Downloader
from tools.bootstrap.lock import LockedPackage, locked_packages
from tools.bootstrap.machine import HERE, check_machine
from tools.bootstrap.report import say

LIBRARIES = Path("usr/lib") / HERE.triplet
LOADER = LIBRARIES / HERE.loader

# The wrapper finds the real program through symbolic links, but passes on the called name: gcc
# looks for its parts relative to it.
_WRAPPER = """#!/bin/sh
d=$(readlink -f "$0")
d=${{d%/*}}
exec "$d/{up}/{loader}" --library-path "$d/{up}/{libraries}" --argv0 "$0" "$d/{name}.elf" "$@"
"""


def fetch(
    work: Path, result: Path, suite: str, packages: Sequence[str], without: Iterable[str] = ()
) -> dict[str, str]:
    """Download packages with all their dependencies and unpack them into `result`.

    Returns:
        version by package name; also written to `result/packages.json` with checksums.

    Raises:
        SetupError: the lock file lacks the packages, or no server has them.
    """
    check_machine()
    locked = locked_packages(suite, packages, without)
    say(f"{work.stem}: downloading {len(locked.closure)} packages, {locked.megabytes} MB")
    Downloader(locked, work / "archives").each(lambda deb: unpack(deb, result))
    for name in MERGED:
        if (result / "usr" / name).is_dir():
            (result / name).symlink_to(f"usr/{name}")
    relink_absolute(result)
    return _write_manifest(result, suite, locked.closure)


def _write_manifest(result: Path, suite: str, closure: Sequence[LockedPackage]) -> dict[str, str]:
    rows = {p.name: {"version": p.version, "sha256": p.sha256} for p in closure}
    text = json.dumps({"suite": suite, "packages": rows}, indent=1, sort_keys=True)
    (result / "packages.json").write_text(text + "\n")
    return {name: row["version"] for name, row in rows.items()}


def _executables(result: Path) -> Iterator[Path]:
    for path in sorted(result.rglob("*")):
        if path.is_symlink() or not path.is_file() or not os.access(path, os.X_OK):
            continue
        with path.open("rb") as handle:
            head = handle.read(18)
        if head[:4] != b"\x7fELF" or ".so" in path.name:
            continue
        yield path


def wrap_programs(result: Path) -> int:
    """Replace each ELF program by a relocatable wrapper and return their number.

    The wrapper starts program `X.elf` with the loader and the libraries of `result`, even after a
    move of that folder.
    """
    count = 0
    for path in _executables(result):
        up = os.path.relpath(result, path.parent)
        path.rename(path.with_name(path.name + ".elf"))
        path.write_text(_WRAPPER.format(up=up, loader=LOADER, libraries=LIBRARIES, name=path.name))
        path.chmod(0o755)
        count += 1
    return count


def prune(result: Path, keep: Sequence[str]) -> None:
    """Remove every file whose path under `result` matches none of the patterns `keep`."""
    for path in sorted(result.rglob("*"), reverse=True):
        name = str(path.relative_to(result))
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif not any(fnmatch.fnmatchcase(name, pattern) for pattern in keep):
            path.unlink()


def free_megabytes(folder: Path) -> int:
    """Return the free megabytes of the file system of `folder`."""
    return shutil.disk_usage(folder).free // 1_000_000
