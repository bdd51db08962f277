# SPDX-License-Identifier: Apache-2.0
"""Program start by program.sh, and its use of runfiles."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

_MAIN = "here/tool.py"

# Prints the program's input, one item per line.
_PYTHON = """#!/bin/sh
echo "$PYTHONPATH"
echo "$PYTHONSAFEPATH"
echo "${RUNFILES_DIR-}"
echo "${RUNFILES_MANIFEST_FILE-}"
echo "$@"
"""


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _program(folder: Path, imports: str = "") -> Path:
    """A program as Bazel makes it, and its runfiles."""
    text = Path("tools/repositories/program.sh").read_text()
    for word, value in {
        "main": _MAIN,
        "imports": imports,
        "python_binary": "env/bin/python3",
    }.items():
        assert text.count(f"%{word}%") == 1
        text = text.replace(f"%{word}%", value)
    program = folder / "tool"
    _write(program, text)
    _write(folder / f"tool.runfiles/{_MAIN}", "")
    _write(folder / "tool.runfiles/env/bin/python3", _PYTHON)
    _write(folder / "tool.runfiles/MANIFEST", "")
    return program


def _run(program: str | Path, *arguments: str, cwd: Path, **environment: str) -> list[str]:
    inherited: Mapping[str, str] = {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        [program, *arguments],
        cwd=cwd,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with spaces and characters special to a shell."""
    found = tmp_path / "a b*$c"
    found.mkdir()
    return found


def test_modules_are_found_in_all_repositories(folder: Path) -> None:
    program = _program(folder, imports="env/lib:here/more")
    runfiles = f"{program}.runfiles"
    modules, safe, *_, arguments = _run(program, "x y", "--z=", cwd=folder)
    assert modules == ":".join(
        [runfiles, *(f"{runfiles}/{f}" for f in ("env/lib", "here/more", "env", "here"))]
    )
    assert safe == "1"
    assert arguments == f"{runfiles}/{_MAIN} x y --z="
    more, *_ = _run(program, cwd=folder, PYTHONPATH="/of/the:/caller")
    assert more == f"{modules}:/of/the:/caller"


def test_runfiles_are_beside_the_program_or_around_it(folder: Path) -> None:
    program = _program(folder)
    runfiles = f"{program}.runfiles"
    nested = Path(runfiles, "here/tool")
    nested.write_bytes(program.read_bytes())
    nested.chmod(0o755)
    link = folder / "links/link"
    link.parent.mkdir()
    link.symlink_to("../tool")
    for started in (program, "./tool", nested, link):
        *_, arguments = _run(started, cwd=folder)
        assert Path(arguments).resolve() == Path(runfiles, _MAIN).resolve(), started


@pytest.mark.parametrize("has_manifest", [False, True])
def test_programs_that_it_starts_are_told(folder: Path, has_manifest: bool) -> None:
    program = _program(folder)
    manifest = Path(f"{program}.runfiles/MANIFEST")
    if not has_manifest:
        manifest.unlink()
    _, _, directory, file, _ = _run(program, cwd=folder)
    assert (directory, file) == (
        ("", str(manifest)) if has_manifest else (f"{program}.runfiles", "")
    )
    beside = Path(f"{program}.runfiles_manifest")
    beside.touch()
    assert _run(program, cwd=folder)[2:4] == ["", str(beside)]


def test_the_caller_says_where_they_are(folder: Path, tmp_path: Path) -> None:
    whole, alone = _program(folder), tmp_path / "alone"
    alone.write_bytes(whole.read_bytes())
    alone.chmod(0o755)
    runfiles = f"{whole}.runfiles"
    for name, value in {
        "RUNFILES_DIR": runfiles,
        "RUNFILES_MANIFEST_FILE": f"{runfiles}/MANIFEST",
    }.items():
        *_, arguments = _run(alone, cwd=tmp_path, **{name: value})
        assert arguments == f"{runfiles}/{_MAIN}"
    manifest = f"{runfiles}_manifest"
    *_, arguments = _run(alone, cwd=tmp_path, RUNFILES_MANIFEST_FILE=manifest)
    assert arguments == f"{runfiles}/{_MAIN}"
    # Runfiles of another program: its own are next to it.
    other = tmp_path / "other.runfiles"
    other.mkdir()
    _, _, directory, _, arguments = _run(whole, cwd=tmp_path, RUNFILES_DIR=str(other))
    assert (directory, arguments) == (str(other), f"{runfiles}/{_MAIN}")


def test_without_runfiles_it_says_so(folder: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.write_bytes(_program(folder).read_bytes())
    alone.chmod(0o755)
    done = subprocess.run([alone], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"{alone}: its folder of runfiles is missing\n")
