# SPDX-License-Identifier: Apache-2.0
"""The user's cache folder: contents, sizes, and removal of entries unused by all checkouts.

A folder of the cache is needed if a checkout's Bazel links to it, or another needed folder does.
Bazel keeps these links next to the outputs of each checkout, together with the checkout's path.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_KEPT = {
    "bazel": "outputs of Bazel; `tools/bazel clean --expunge` in a checkout removes its own",
    "bazelrc": "written by tools/bazel",
    "disk": "results of builds; Bazel removes the oldest above 20 GB",
    "locks": "of set-ups",
}
"""Entries other than tools."""

_LINK_DEPTH = 3
_WORK = ".work"


@dataclass(frozen=True)
class Entry:
    """Entry of the cache.

    Attributes:
      needed_by: checkouts that need it.
      kept: the reason to keep it, "" if it can be removed.
    """

    path: Path
    size: int
    needed_by: tuple[Path, ...]
    kept: str


def size_of(path: Path) -> int:
    """Return the bytes of a file or a folder on disk; a hard link counts once."""
    seen = set()
    total = 0
    for folder, _, files in os.walk(path):
        for name in [".", *files]:
            try:
                status = os.lstat(os.path.join(folder, name))
            except OSError:  # another process removed it
                continue
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                total += status.st_blocks * 512
    return total or path.lstat().st_size


def _may_be_there(folder: Path) -> bool:
    """Return False for a missing folder; one that only others may look at counts as there."""
    try:
        return folder.is_dir()
    except PermissionError:
        return True


def output_bases(cache: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the checkouts with Bazel outputs, and the folder of the outputs.

    Deleted checkouts are left out.
    """
    home = Path(os.path.expanduser("~"))
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    roots = [cache / "bazel", home / ".cache/bazel", *([Path(xdg) / "bazel"] if xdg else [])]
    for root in dict.fromkeys(roots):
        for note in sorted(
            [*root.glob("*/DO_NOT_BUILD_HERE"), *root.glob("*/*/DO_NOT_BUILD_HERE")]
        ):
            checkout = Path(note.read_text().strip())
            if _may_be_there(checkout):
                yield checkout, note.parent


def _links(folder: Path, depth: int) -> Iterator[Path]:
    """Yield targets of symbolic links in a folder, and targets listed by a Python environment."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            yield Path(os.path.realpath(entry.path))
            yield Path(os.path.join(folder, os.readlink(entry.path)))
        elif entry.is_dir() and depth > 1:
            yield from _links(Path(entry.path), depth - 1)
        elif entry.name == "pyvenv.cfg":
            text = Path(entry.path).read_text()
            yield from (Path(path) for path in re.findall(r"= (/.*)$", text, re.MULTILINE))


def _linked(folder: Path, cache: Path) -> set[str]:
    """Return the names of the cache entries a folder links to."""
    found = set()
    for target in _links(folder, _LINK_DEPTH):
        parts = Path(os.path.normpath(target)).parts
        if parts[: len(cache.parts)] == cache.parts and len(parts) > len(cache.parts):
            found.add(parts[len(cache.parts)])
    return found


def needed(cache: Path) -> dict[str, set[Path]]:
    """Return the checkouts that need each cache entry, by the entry's name."""
    users: dict[str, set[Path]] = {}
    for checkout, base in output_bases(cache):
        todo = _linked(base / "external", cache)
        done: set[str] = set()
        while todo:
            name = todo.pop()
            if name not in done:
                done.add(name)
                users.setdefault(name, set()).add(checkout)
                todo |= _linked(cache / name, cache)
    return users


def _is_locked(cache: Path, name: str) -> bool:
    """Return True if another process is setting up this entry."""
    path = cache / "locks" / name
    if not path.exists():
        return False
    with path.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def entries(cache: Path) -> list[Entry]:
    """Return the entries of the cache, the largest first."""
    users = needed(cache)
    found = []
    for path in cache.iterdir():
        name = path.name[: -len(_WORK)] if path.name.endswith(_WORK) else path.name
        by = tuple(sorted(users.get(path.name, ())))
        kept = _KEPT.get(path.name, "")
        if by:
            more = f" and {len(by) - 1} more" if len(by) > 1 else ""
            kept = f"{by[0]}{more}"
        elif not kept and _is_locked(cache, name):
            kept = "another process is setting it up"
        found.append(Entry(path, size_of(path), by, kept))
    return sorted(found, key=lambda entry: (-entry.size, entry.path.name))


def remove(removed: Iterable[Entry]) -> None:
    """Remove entries. Rename each one first, so that no partly deleted entry keeps its name."""
    for entry in removed:
        gone = entry.path.with_name(f"{entry.path.name}.gone{_WORK}")
        entry.path.rename(gone)
        if gone.is_dir():
            shutil.rmtree(gone)
        else:
            gone.unlink()
