# SPDX-License-Identifier: Apache-2.0
"""Write the lock files anew: the newest packages of each suite, from signed indexes.

python3 -m tools.bootstrap.update_lock                           every request
python3 -m tools.bootstrap.update_lock --suite=trixie openocd    one request, also a new one

Each architecture gets the same requests.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tools.bootstrap.archive import Archive
from tools.bootstrap.lock import Request, lock_file, read_lock, write_lock
from tools.bootstrap.machine import ARCHITECTURES, Architecture
from tools.bootstrap.report import SetupError, run_main, say
from tools.bootstrap.sources import MIRROR_VARIABLE, machine_mirrors


def _update(
    architecture: Architecture, chosen: Sequence[Request], mirror: str, expired: bool
) -> None:
    path = lock_file(architecture)
    locked = read_lock(path) if path.exists() else {}
    for suite in sorted({request.suite for request in chosen}):
        say(f"reading the index of Debian {suite} for {architecture.debian}")
        archive = Archive(mirror, suite, expired, architecture)
        for request in chosen:
            if request.suite == suite:
                locked[request] = found = archive.resolve(request)
                size = f"{len(found.closure)} packages, {found.megabytes} MB"
                say(f"  {' '.join(request.packages)}: {size}")
    write_lock(locked, path)


def main(argv: Sequence[str]) -> None:
    """Update the lock file.

    Raises:
        SetupError: there is no mirror, or a suite lacks a package.
    """
    parser = argparse.ArgumentParser(
        prog="update_lock", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--suite", help="suite of the packages")
    parser.add_argument("--architecture", default="", help="amd64 or arm64; both if absent")
    parser.add_argument("--without", action="append", default=[], help="package to leave out")
    parser.add_argument(
        "--expired", action="store_true", help="accept indexes of a mirror that stands still"
    )
    parser.add_argument("packages", nargs="*")
    options = parser.parse_args(argv)
    chosen = list(read_lock())
    if options.packages:
        if not options.suite:
            raise SetupError("give --suite")
        chosen = [Request.of(options.suite, options.packages, options.without)]
    mirrors = machine_mirrors()
    if not mirrors:
        raise SetupError(f"set {MIRROR_VARIABLE} to a mirror of Debian")
    for architecture in ARCHITECTURES.values():
        if options.architecture in ("", architecture.debian):
            _update(architecture, chosen, mirrors[0], options.expired)


if __name__ == "__main__":
    sys.exit(run_main("the lock file", lambda: main(sys.argv[1:])))
