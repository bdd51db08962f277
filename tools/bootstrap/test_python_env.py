# SPDX-License-Identifier: Apache-2.0
"""Sources of pinned packages, and a user's requirements. Packages are made up."""

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tools.bootstrap import python_env
from tools.bootstrap.made_up_archive import served
from tools.bootstrap.report import SetupError


def _wheel(folder: Path, name: str, version: str, needs: str = "") -> None:
    """Make a package with one module containing its version."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    requires = f"Requires-Dist: {needs}\n" if needs else ""
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for file, text in {
            f"{name}.py": f"version = {version!r}\n",
            f"{info}/METADATA": f"Name: {name}\nVersion: {version}\n{requires}",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": "",
        }.items():
            archive.writestr(file, text)


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an environment with `given` 1.0, like in the lock file, and a program."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(python_env, "check", lambda *_: None)
    monkeypatch.setattr(python_env, "_try_torch", lambda *_: None)
    base = tmp_path / "base"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(base)], check=True)
    (packages,) = base.glob("lib/python3.*/site-packages")
    _wheel(tmp_path / "given", "given", "1.0")
    zipfile.ZipFile(tmp_path / "given/given-1.0-py3-none-any.whl").extractall(packages)
    (base / "bin/formatter").write_text("#!/bin/sh\n")
    (tmp_path / "lock.txt").write_text("given==1.0 --hash=sha256:0\n")
    return base


def _add(base: Path, capsys: pytest.CaptureFixture[str], wanted: str) -> Path:
    folder = base.parent
    (folder / "mine.txt").write_text(f"--no-index\n--find-links {folder}/wheels\n{wanted}\n")
    arguments = ["--lock", folder / "lock.txt", "--environment", base]
    python_env.main([*map(str, arguments), "--requirements", str(folder / "mine.txt")])
    return Path(capsys.readouterr().out.strip())


def test_requirements_are_added_beside_what_is_there(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _wheel(base.parent / "wheels", "mine", "2.0", needs="given")
    made = _add(base, capsys, "mine")
    say = "import given, mine; print(given.version, mine.version)"
    python = made / "bin/python3"
    assert subprocess.check_output([python, "-c", say], text=True) == "1.0 2.0\n"
    assert (made / "bin/formatter").exists()
    assert list(base.rglob("mine.py")) == []
    assert list(made.rglob("given.py")) == []
    assert _add(base, capsys, "mine") == made


def test_packages_of_a_second_lock_lie_beside(
    base: Path, nothing: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = base.parent
    _wheel(folder / "wheels", "more", "3.0")
    (wheel,) = (folder / "wheels").iterdir()
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (folder / "more.txt").write_text(f"more==3.0 \\\n    --hash=sha256:{sha256}\n")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder / "wheels"))
    arguments = [f"--lock={folder}/lock.txt", f"--more={folder}/more.txt"]

    def made(environment: Path) -> Path:
        python_env.main([*arguments, f"--environment={environment}"])
        return Path(capsys.readouterr().out.strip())

    beside = made(base)
    say = "import given, more; print(given.version, more.version)"
    command: list[str | Path] = [beside / "bin/python3", "-c", say]
    assert subprocess.check_output(command, text=True) == "1.0 3.0\n"
    assert list(base.rglob("more.py")) == []
    assert made(beside) == beside, "it has both"


def test_requirements_that_want_other_versions_are_refused(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _wheel(base.parent / "wheels", "given", "2.0")
    _wheel(base.parent / "wheels", "mine", "2.0", needs="given>=2")
    with pytest.raises(SetupError, match="given==1.0"):
        _add(base, capsys, "mine")


def test_requirements_that_are_nowhere_are_named(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _wheel(base.parent / "wheels", "other", "1.0")
    with pytest.raises(SetupError, match="No matching distribution found for mine"):
        _add(base, capsys, "mine")


def _index(folder: Path, wheel: Path) -> Path:
    """A package index with one wheel."""
    page = folder / "simple/torch"
    page.mkdir(parents=True)
    (page / wheel.name).write_bytes(wheel.read_bytes())
    (page / "index.html").write_text(f'<a href="{wheel.name}">{wheel.name}</a>')
    return folder / "simple"


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of an index without packages, the only one known to pip."""
    for variable in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "nothing").mkdir()
    address = (tmp_path / "nothing").as_uri()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", address)
    return address


@pytest.fixture
def torch(base: Path, nothing: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a wheel of torch, locked with its hash; pip does not find it by itself."""
    folder = base.parent
    _wheel(folder / "made", "torch", "1.0+cpu")
    (wheel,) = (folder / "made").iterdir()
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (folder / "lock.txt").write_text(f"torch==1.0+cpu \\\n    --hash=sha256:{sha256}\n")
    monkeypatch.setattr(python_env, "TORCH_INDEX", nothing)
    return wheel


def _installed(base: Path) -> bool:
    python_env._install(base / "bin/python3", base.parent / "lock.txt", base.parent)
    return any(base.glob("lib/python3.*/site-packages/torch.py"))


def test_torch_from_its_own_index(base: Path, torch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(_index(base.parent / "index", torch)) as address:
        monkeypatch.setattr(python_env, "TORCH_INDEX", address)
        assert _installed(base)


def test_damaged_wheel_is_refused(base: Path, torch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(torch, "a") as archive:
        archive.writestr("evil.py", "")
    monkeypatch.setattr(python_env, "TORCH_INDEX", _index(base.parent / "index", torch).as_uri())
    with pytest.raises(SetupError, match=r"(?s)No matching distribution.*DO NOT MATCH THE HASHES"):
        _installed(base)


def test_source_package_is_refused(
    base: Path, nothing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its build would run whatever setuptools an index has."""
    folder = base.parent
    with tarfile.open(folder / "mine-1.0.tar.gz", "w:gz") as archive:
        setup = b"raise SystemExit('this ran')"
        member = tarfile.TarInfo("mine-1.0/setup.py")
        member.size = len(setup)
        archive.addfile(member, io.BytesIO(setup))
    sha256 = hashlib.sha256((folder / "mine-1.0.tar.gz").read_bytes()).hexdigest()
    (folder / "lock.txt").write_text(f"mine==1.0 \\\n    --hash=sha256:{sha256}\n")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    with pytest.raises(SetupError, match="No matching distribution found for mine"):
        _installed(base)
