# SPDX-License-Identifier: Apache-2.0
"""Show installed and missing tools; clean the cache.

    python3 -m tools.doctor            # in a checkout; `pilotlight doctor` from the wheel
    python3 -m tools.doctor --clean    # lists unused entries, asks, and removes them

Any Python from 3.8 on runs it, without packages.

Exit status: 0; 1 if something is missing; 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

from tools.bootstrap.cache import cache_root
from tools.bootstrap.machine import check_machine, glibc_version
from tools.bootstrap.report import SetupError
from tools.doctor.cache import Entry, entries, remove
from tools.doctor.variables import VARIABLES
from tools.version import VERSION

_PROGRAMS = {
    "bazel": "tools/bazel sets one up",
    "qemu-system-arm": "the build sets one up",
    "arm-none-eabi-gcc": "the build sets one up; your own build of a package needs one",
    "cmake": "for packages with CMake",
    "west": "for packages with Zephyr",
}
_IS_WHEEL = __name__.startswith("pilotlight.")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _packages() -> list[str]:
    """Print the packages the wheel needs; return the missing ones."""
    missing = []
    for line in requires("pilotlight") or []:
        name = re.findall(r"^[\w.-]+", line)[0]
        try:
            print(f"  {name:20} {version(name):18} asked for: {line}")
        except PackageNotFoundError:
            missing.append(name)
            print(f"  {name:20} MISSING: pip install '{line}'")
    found = "there" if find_spec("eiq_neutron_sdk") else "not there"
    print(f"  {'eiq_neutron_sdk':20} {found}; only targets imxrt700 and mcxn947 need it")
    return missing


def show() -> int:
    """Print versions, programs, variables and the cache. Return the exit status."""
    libc = ".".join(map(str, glibc_version())) or "unknown"
    print(f"pilotlight {VERSION}, {'wheel' if _IS_WHEEL else 'checkout'}")
    print(f"Python {platform.python_version()}, {sys.executable}")
    print(f"{platform.system()} on {platform.machine()}, glibc {libc}")
    missing = []
    try:
        check_machine()
    except SetupError as error:
        missing.append(str(error))
        print(f"  MISSING: {error}")
    if _IS_WHEEL:
        print("\nPackages")
        missing += _packages()
    print("\nPrograms on PATH")
    for name, use in _PROGRAMS.items():
        print(f"  {name:20} {shutil.which(name) or f'not there; {use}'}")
    print("\nVariables")
    for name, meaning in VARIABLES.items():
        value = os.environ.get(name)
        print(f"  {name:29} {f'not set; {meaning}' if value is None else value}")
    for name in sorted(os.environ):
        if name.startswith("PILOTLIGHT_") and name not in VARIABLES:
            print(f"  {name:29} UNKNOWN: Pilotlight reads no variable of this name")
    print(f"\nCache\n  {cache_root()}; --clean shows what lies there")
    return 1 if missing else 0


def _row(entry: Entry) -> str:
    return f"  {_megabytes(entry.size):>14}  {entry.path.name:34} {entry.kept or 'not needed'}"


def clean(yes: bool) -> int:
    """List the cache and remove unused entries, once the user agrees."""
    cache = cache_root()
    found = entries(cache)
    print(f"{cache}, {_megabytes(sum(entry.size for entry in found))}")
    for entry in found:
        print(_row(entry))
    removable = [entry for entry in found if not entry.kept]
    if not removable:
        print("Every entry is needed: there is nothing to remove.")
        return 0
    size = _megabytes(sum(entry.size for entry in removable))
    question = f"No checkout needs {len(removable)} of these, {size}."
    if not yes:
        if not sys.stdin.isatty():
            print(f"{question} Nothing was removed: give --yes.")
            return 0
        print(f"{question} The next build that needs one fetches it again.")
        if input("Remove them? [y/N] ").strip().lower() not in ("y", "yes"):
            print("Nothing was removed.")
            return 0
    remove(removable)
    print(f"Removed {', '.join(entry.path.name for entry in removable)}: {size}.")
    return 0


def main(argv: Sequence[str]) -> int:
    program = "pilotlight doctor" if _IS_WHEEL else "python3 -m tools.doctor"
    parser = argparse.ArgumentParser(
        prog=program,
        description="Show what is installed and what is missing; clean the cache.",
        epilog=f"Examples: `{program}`; `{program} --clean`; `{program} --clean --yes`. "
        "Exit status: 0; 1 if something is missing; 2 for wrong arguments.",
    )
    parser.add_argument("--clean", action="store_true", help="list the cache; remove on request")
    parser.add_argument("--yes", action="store_true", help="with --clean: remove without asking")
    arguments = parser.parse_args(argv)
    if arguments.yes and not arguments.clean:
        parser.error("--yes goes with --clean")
    try:
        return clean(arguments.yes) if arguments.clean else show()
    except SetupError as error:
        print(f"pilotlight: {error}", file=sys.stderr)
        return 1
