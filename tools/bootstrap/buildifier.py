# SPDX-License-Identifier: Apache-2.0
"""Fetches buildifier and prints its path.

It is published as an npm package with a binary for each system.
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

from tools.bootstrap.cache import make_once
from tools.bootstrap.npm import fetch_npm
from tools.bootstrap.report import SetupError, give, run_main, say
from tools.bootstrap.versions import read_versions

_BINARY = "buildifier-linux_amd64"


def _make(work: Path, result: Path) -> None:
    versions = read_versions()
    version = versions["BUILDIFIER_VERSION"]
    say(f"setting up buildifier {version} (once; 24 MB to download)")
    archive = fetch_npm("@bazel/buildifier", version, versions["BUILDIFIER_SHA256"], work)
    with tarfile.open(archive) as tar:
        member = tar.extractfile(f"package/{_BINARY}")
        if member is None:
            raise SetupError(f"{archive.name} has no {_BINARY}")
        program = result / "buildifier"
        program.write_bytes(member.read())
        program.chmod(0o755)


def main() -> None:
    version = read_versions()["BUILDIFIER_VERSION"]
    give(make_once(f"buildifier-{version}", _make) / "buildifier")


if __name__ == "__main__":
    sys.exit(run_main("buildifier", main))
