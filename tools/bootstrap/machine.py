# SPDX-License-Identifier: Apache-2.0
"""Architecture of this machine, and a check that it can run the installed tools."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass

from tools.bootstrap.report import SetupError


@dataclass(frozen=True)
class Architecture:
    """Processor of a machine, in the words of Debian.

    Attributes:
      debian: name in packages.
      triplet: name of folders.
      loader: of programs, in the folder of libraries.
    """

    debian: str
    triplet: str
    loader: str


_AMD64 = Architecture("amd64", "x86_64-linux-gnu", "ld-linux-x86-64.so.2")

ARCHITECTURES = {
    "x86_64": _AMD64,
    "aarch64": Architecture("arm64", "aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
}
"""By the machine's own name."""

# check_machine refuses machines that are not in the table.
HERE = ARCHITECTURES.get(platform.machine(), _AMD64)

# Programs for the host are linked with this one.
OLDEST_GLIBC = (2, 34)


def glibc_version() -> tuple[int, ...]:
    """Return the version of the C library, () if it is another one."""
    try:
        words = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()
    except ValueError:
        return ()
    return tuple(int(part) for part in words[1].split(".")) if words[:1] == ["glibc"] else ()


def check_machine() -> None:
    """Raise SetupError if nothing can be set up here."""
    wanted = (
        "Pilotlight needs Linux on x86-64 or aarch64 with glibc 2.34 or later: "
        "use a container there"
    )
    system, processor = platform.system(), platform.machine()
    if system != "Linux" or processor not in ARCHITECTURES:
        raise SetupError(f"this machine is {system} on {processor}. {wanted}")
    version = glibc_version()
    if version < OLDEST_GLIBC:
        found = f"glibc {'.'.join(map(str, version))}" if version else "no glibc"
        raise SetupError(f"this machine has {found}. {wanted}")
