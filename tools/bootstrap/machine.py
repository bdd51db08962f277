# SPDX-License-Identifier: Apache-2.0
"""Check that this machine can run the installed tools."""

from __future__ import annotations

import os
import platform

from tools.bootstrap.report import SetupError

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
    wanted = "Pilotlight needs Linux on x86-64 with glibc 2.34 or later: use a container there"
    system = f"{platform.system()} on {platform.machine()}"
    if system != "Linux on x86_64":
        raise SetupError(f"this machine is {system}. {wanted}")
    version = glibc_version()
    if version < OLDEST_GLIBC:
        found = f"glibc {'.'.join(map(str, version))}" if version else "no glibc"
        raise SetupError(f"this machine has {found}. {wanted}")
