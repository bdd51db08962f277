# SPDX-License-Identifier: Apache-2.0
"""Fetch the drawing libraries of the image page (tools/report), and print their folder."""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

from tools.bootstrap.cache import make_once
from tools.bootstrap.npm import fetch_npm
from tools.bootstrap.report import SetupError, give, run_main, say
from tools.bootstrap.versions import read_versions

# Package and file of each library.
_FILES = {
    "d3.min.js": ("D3", "d3", "dist/d3.min.js"),
    "d3.LICENSE": ("D3", "d3", "LICENSE"),
    "dagre.min.js": ("DAGRE", "@dagrejs/dagre", "dist/dagre.min.js"),
    "dagre.LICENSE": ("DAGRE", "@dagrejs/dagre", "LICENSE"),
}


def _make(work: Path, result: Path) -> None:
    versions = read_versions()
    say("fetching d3 and dagre, which reports are drawn with (once; 2 MB)")
    packages = {(key, package) for key, package, _ in _FILES.values()}
    archives = {
        key: fetch_npm(package, versions[f"{key}_VERSION"], versions[f"{key}_SHA256"], work)
        for key, package in sorted(packages)
    }
    for name, (key, _, path) in _FILES.items():
        with tarfile.open(archives[key]) as tar:
            member = tar.extractfile(f"package/{path}")
            if member is None:
                raise SetupError(f"{archives[key].name} has no {path}")
            (result / name).write_bytes(member.read())


def main() -> None:
    versions = read_versions()
    name = f"page-libraries-{versions['D3_VERSION']}-{versions['DAGRE_VERSION']}"
    give(make_once(name, _make))


if __name__ == "__main__":
    sys.exit(run_main("what reports are drawn with", main))
