# SPDX-License-Identifier: Apache-2.0
"""Set up a tool from Debian packages of any suite, without root, and print its folder.

The folder lies in the user's cache. Its name depends on the request and the locked packages, so the
same request finds it again. The repository rules use this program; tools/bootstrap/bazel.py uses
the same parts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tools.bootstrap.cache import make_once
from tools.bootstrap.lock import locked_packages
from tools.bootstrap.machine import HERE
from tools.bootstrap.prefix import fetch, prune, wrap_programs
from tools.bootstrap.report import give, run, run_main, say

# Increase this when the conversion of packages into a folder changes.
RECIPE = 1


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fetch", description=__doc__)
    parser.add_argument("--name", required=True, help="what is set up, as shown to the user")
    parser.add_argument("--suite", required=True, help="Debian suite, for example trixie")
    parser.add_argument("--without", action="append", default=[], help="package taken as installed")
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        help="pattern of files to keep (default: all); {triplet} is the folder of libraries",
    )
    parser.add_argument(
        "--link", action="append", default=[], metavar="PATH=TARGET", help="symbolic link to add"
    )
    parser.add_argument(
        "--check", action="append", default=[], help="program that must answer to --version"
    )
    parser.add_argument("packages", nargs="+")
    options = parser.parse_args(argv)
    options.keep = [pattern.replace("{triplet}", HERE.triplet) for pattern in options.keep]
    return options


def _make(options: argparse.Namespace, work: Path, result: Path) -> None:
    say(f"setting up {options.name} without root (once)")
    start = time.monotonic()
    fetch(work, result, options.suite, options.packages, options.without)
    if options.keep:
        prune(result, [*options.keep, "packages.json"])
    wrap_programs(result)
    for link in options.link:
        path, _, target = link.partition("=")
        (result / path).symlink_to(target)
    for program in options.check:
        run(f"trying {options.name}", [result / program, "--version"])
    say(f"{options.name} is ready ({time.monotonic() - start:.0f} s)")


def main(options: argparse.Namespace) -> None:
    key = locked_packages(options.suite, options.packages, options.without).name(
        RECIPE, vars(options)
    )
    give(make_once(f"{options.name}-{key}", lambda work, result: _make(options, work, result)))


if __name__ == "__main__":
    given = _arguments(sys.argv[1:])
    sys.exit(run_main(given.name, lambda: main(given)))
