# SPDX-License-Identifier: Apache-2.0
"""Fetch Monocypher's C source from the source package of pymonocypher, and print its folder.

Run this with the Python of the build's environment: pip asks its setuptools about the package.
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

from tools.bootstrap.cache import make_once
from tools.bootstrap.pip import run_pip
from tools.bootstrap.report import SetupError, give, run_main, say
from tools.bootstrap.versions import read_versions

_PACKAGE = "pymonocypher"
_FILES = ("LICENSE.txt", "monocypher.c", "monocypher.h")


def _make(work: Path, result: Path) -> None:
    versions = read_versions()
    version, sha256 = versions["MONOCYPHER_VERSION"], versions["MONOCYPHER_SHA256"]
    say("fetching Monocypher, which signatures are checked with (once; 0.5 MB)")
    requirements = work / "monocypher.txt"
    requirements.write_text(f"{_PACKAGE}=={version} --hash=sha256:{sha256}\n")
    run_pip(
        sys.executable,
        ["download", "--no-deps", "--no-binary=:all:", "--no-build-isolation", "--require-hashes"]
        + [f"--dest={work}", f"--requirement={requirements}"],
    )
    with tarfile.open(work / f"{_PACKAGE}-{version}.tar.gz") as tar:
        for name in _FILES:
            member = tar.extractfile(f"{_PACKAGE}-{version}/{name}")
            if member is None:
                raise SetupError(f"the source package of {_PACKAGE} has no {name}")
            (result / name).write_bytes(member.read())


def main() -> None:
    give(make_once(f"monocypher-{read_versions()['MONOCYPHER_VERSION']}", _make))


if __name__ == "__main__":
    sys.exit(run_main("what signatures are checked with", main))
