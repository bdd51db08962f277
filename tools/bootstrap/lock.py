# SPDX-License-Identifier: Apache-2.0
"""Reader of the lock files: all Debian packages of the tools, with checksums.

Each architecture has a file.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.bootstrap.machine import HERE, Architecture
from tools.bootstrap.report import SetupError


def lock_file(architecture: Architecture) -> Path:
    """Return the file for an architecture."""
    return Path(__file__).parent / f"debian_{architecture.debian}.lock.json"


LOCK = lock_file(HERE)


@dataclass(frozen=True)
class LockedPackage:
    """One .deb."""

    name: str
    version: str
    sha256: str
    size: int
    path: str  # below the archive's folder

    @property
    def file(self) -> str:
        """Return the name of the file, with the version's epoch."""
        return f"{self.name}_{self.version.replace(':', '%3a')}_{self.path.rpartition('_')[2]}"


@dataclass(frozen=True)
class Request:
    """Packages of a suite with all their dependencies, except for `without`."""

    suite: str
    packages: tuple[str, ...]
    without: tuple[str, ...]

    @classmethod
    def of(cls, suite: str, packages: Iterable[str], without: Iterable[str]) -> Request:
        """Return the request in its one order."""
        return cls(suite, tuple(sorted(set(packages))), tuple(sorted(set(without))))


@dataclass(frozen=True)
class Locked:
    """Packages of a request. `date` is the date of an archive snapshot containing all of them."""

    date: str
    closure: tuple[LockedPackage, ...]

    @property
    def megabytes(self) -> int:
        """Return the size of the download."""
        return round(sum(package.size for package in self.closure) / 1e6)

    def name(self, *parts: object) -> str:
        """Return a short name depending on all packages and the other parts."""
        text = json.dumps([*parts, *(package.sha256 for package in self.closure)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_lock(path: Path | None = None) -> dict[Request, Locked]:
    """Return all locked packages."""
    locked = {}
    for row in json.loads((path or LOCK).read_text(encoding="utf-8")):
        closure = []
        for line in row["closure"]:
            name, version, sha256, size, file = line.split(" ")
            closure.append(LockedPackage(name, version, sha256, int(size), file))
        request = Request.of(row["suite"], row["packages"], row["without"])
        locked[request] = Locked(row["date"], tuple(closure))
    return locked


def write_lock(locked: dict[Request, Locked], path: Path | None = None) -> None:
    """Write the file anew."""
    rows = [
        {
            "suite": request.suite,
            "date": found.date,
            "packages": request.packages,
            "without": request.without,
            "closure": [
                f"{p.name} {p.version} {p.sha256} {p.size} {p.path}" for p in found.closure
            ],
        }
        for request, found in sorted(locked.items(), key=lambda item: item[0].packages)
    ]
    (path or LOCK).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def locked_packages(suite: str, packages: Sequence[str], without: Iterable[str]) -> Locked:
    """Return the packages of a request.

    Raises:
        SetupError: the lock file lacks the request.
    """
    request = Request.of(suite, packages, without)
    found = read_lock().get(request)
    if not found:
        options = [f"--without={name}" for name in request.without]
        add = shlex.join([f"--suite={suite}", *options, *request.packages])
        raise SetupError(
            f"{LOCK.name} lacks {' '.join(packages)} of Debian {suite}: "
            f"run python3 -m tools.bootstrap.update_lock {add}"
        )
    return found
