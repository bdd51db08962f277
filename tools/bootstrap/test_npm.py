# SPDX-License-Identifier: Apache-2.0
"""Packages of npm, with a stand-in program on PATH."""

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from tools.bootstrap.npm import fetch_npm
from tools.bootstrap.report import SetupError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the archive provided by npm."""
    given = tmp_path / "registry/mine-1.0.tgz"
    given.parent.mkdir()
    with tarfile.open(given, "w:gz") as tar:
        member = tarfile.TarInfo("package/mine.js")
        member.size = 4
        tar.addfile(member, io.BytesIO(b"mine"))
    program = tmp_path / "bin/npm"
    program.parent.mkdir()
    copy = f'for word; do case $word in --pack-d*) cp {given} "${{word#*=}}";; esac; done'
    program.write_text(f"#!/bin/sh\n{copy}\necho {given.name}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    (tmp_path / "work").mkdir()
    return given


def test_package_with_its_checksum(package: Path, tmp_path: Path) -> None:
    data = package.read_bytes()
    archive = fetch_npm("mine", "1.0", hashlib.sha256(data).hexdigest(), tmp_path / "work")
    assert archive.read_bytes() == data


def test_damaged_package_is_refused(package: Path, tmp_path: Path) -> None:
    sha256 = hashlib.sha256(package.read_bytes()).hexdigest()
    package.write_bytes(package.read_bytes() + b"x")
    with pytest.raises(SetupError, match=r"mine-1\.0\.tgz has the checksum .*, not the pinned one"):
        fetch_npm("mine", "1.0", sha256, tmp_path / "work")
    assert list((tmp_path / "work").glob("*.tgz")) == []
