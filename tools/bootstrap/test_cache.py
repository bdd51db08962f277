# SPDX-License-Identifier: Apache-2.0
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tools.bootstrap.cache import FullError, _below, cache_root, make_once
from tools.bootstrap.report import SetupError

# Makes the folder "tool" in two steps, with a wait for the file "go" between them. Counts calls.
SLOW = """
import sys, time
from pathlib import Path
from tools.bootstrap.cache import make_once
root = Path(sys.argv[1])

def make(work, result):
    with (root / "makes").open("a") as log:
        log.write("x")
    (work / "download").write_text("kept")
    (result / "first").write_text("1")
    while not (root / "go").exists():
        time.sleep(0.01)
    (result / "second").write_text("2")

print(make_once("tool", make, root))
"""


def start(root: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SLOW, str(root)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path: Path, process: "subprocess.Popen[str]") -> None:
    while not path.exists():
        assert process.poll() is None, f"it ended without {path}"
        time.sleep(0.01)


def test_two_at_once_make_it_once(tmp_path: Path) -> None:
    first = start(tmp_path)
    wait_for(tmp_path / "tool.work/result/first", first)
    second = start(tmp_path)
    assert second.stderr is not None
    assert "waiting: another process is setting up tool" in second.stderr.readline()
    (tmp_path / "go").touch()
    outputs = [process.communicate()[0].strip() for process in (first, second)]
    assert outputs == [str(tmp_path / "tool")] * 2
    assert (tmp_path / "makes").read_text() == "x"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_is_not_used_and_goes_on(tmp_path: Path, how: signal.Signals) -> None:
    process = start(tmp_path)
    wait_for(tmp_path / "tool.work/result/first", process)
    assert not (tmp_path / "tool").exists()
    process.send_signal(how)
    process.communicate()
    assert process.returncode != 0
    assert not (tmp_path / "tool").exists()
    assert (tmp_path / "tool.work/download").read_text() == "kept"

    def make(work: Path, result: Path) -> None:
        assert (work / "download").read_text() == "kept"
        assert list(result.iterdir()) == []
        (result / "whole").touch()

    folder = make_once("tool", make, tmp_path)
    assert [path.name for path in folder.iterdir()] == ["whole"]
    assert not (tmp_path / "tool.work").exists()


def test_failure_leaves_nothing_to_use(tmp_path: Path) -> None:
    def make(work: Path, result: Path) -> None:
        (result / "half").touch()
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        make_once("tool", make, tmp_path)
    assert not (tmp_path / "tool").exists()
    assert not (tmp_path / "tool.work/result").exists()


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
        SetupError(f"pip ended with status 1: {os.strerror(errno.ENOSPC)}"),
    ],
    ids=str,
)
def test_a_full_disk_is_named_once(tmp_path: Path, error: Exception) -> None:
    def make(work: Path, result: Path) -> None:
        raise error

    def outer(work: Path, result: Path) -> None:
        make_once("tool", make, tmp_path)

    with pytest.raises(FullError) as found:
        make_once("outer", outer, tmp_path)
    assert str(found.value).startswith(f"{error}: {tmp_path} has ")
    assert str(found.value).count("XDG_CACHE_HOME or TMPDIR") == 1


@pytest.mark.parametrize("error", [OSError(errno.EACCES, "denied"), SetupError("no server")])
def test_other_failures_stay_what_they_are(tmp_path: Path, error: Exception) -> None:
    def make(work: Path, result: Path) -> None:
        raise error

    with pytest.raises(type(error)) as found:
        make_once("tool", make, tmp_path)
    assert found.value is error


@pytest.mark.parametrize(
    ("xdg", "home", "expected"),
    [
        ("{tmp}/xdg", "{tmp}/home", "{tmp}/xdg/pilotlight"),
        ("", "{tmp}/home", "{tmp}/home/.cache/pilotlight"),
        ("relative", "{tmp}/home", "{tmp}/home/.cache/pilotlight"),
    ],
)
def test_cache_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, xdg: str, home: str, expected: str
) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", xdg.format(tmp=tmp_path))
    monkeypatch.setenv("HOME", home.format(tmp=tmp_path))
    assert cache_root() == Path(expected.format(tmp=tmp_path))


# Modes of XDG_CACHE_HOME and of the folder in it, 0 if absent; the owner; the result.
_GROUP = 0o2775
_OTHERS = [
    (0o755, 0o700, "mine", "pilotlight"),
    (0o1777, 0o700, "mine", "pilotlight"),
    (0o1777, 0o755, "other", "pilotlight-{uid}"),
    (0o777, _GROUP, "other", "pilotlight-{uid}"),
    (_GROUP, 0o755, "other", "pilotlight-{uid}"),
    (_GROUP, 0o2777, "other", "pilotlight-{uid}"),
    (_GROUP, _GROUP, "other", "pilotlight shared"),
    (0o755, _GROUP, "other", "pilotlight shared"),
    (_GROUP, _GROUP, "mine", "pilotlight shared"),
    (_GROUP, 0, "mine", "pilotlight shared"),
    (0o1777, 0, "mine", "pilotlight"),
]


@pytest.mark.parametrize(("parent", "mode", "owner", "expected"), _OTHERS)
def test_a_folder_that_others_have(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    parent: int,
    mode: int,
    owner: str,
    expected: str,
) -> None:
    """The launcher and cache.py choose one folder."""
    uid = os.getuid()
    folder = tmp_path / "xdg/pilotlight"
    folder.parent.mkdir()
    folder.parent.chmod(parent)
    if mode:
        folder.mkdir()
        folder.chmod(mode)
    name, *shared = expected.format(uid=uid).split()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "bazelisk").write_text('#!/bin/sh\numask\nprintf "%s\\n" "$@"\n')
    if owner == "other":
        theirs = f"s/ {uid} / {uid + 1} /"
        (programs / "ls").write_text(
            f'#!/bin/sh\n{shutil.which("ls")} "$@" |\n'
            f'case $2 in */xdg/pilotlight) sed "{theirs}" ;; *) cat ;; esac\n'
        )
    for program in programs.iterdir():
        program.chmod(0o755)
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(folder.parent), "USER": "me"}
    environment["PATH"] = f"{programs}:{os.environ['PATH']}"
    os.umask(0o022)
    lines = subprocess.check_output(
        ["tools/bazel", "info"], env=environment, text=True
    ).splitlines()
    assert f"--bazelrc={folder.parent}/{name}/bazelrc" in lines
    assert lines[0] == ("0002" if shared else "0022")
    outputs = [line for line in lines if line.startswith("--output_user_root=")]
    users = "bazel/_bazel_me" if shared else "bazel"
    own_outputs = shared or owner == "other"
    root = f"--output_user_root={folder.parent}/{name}/{users}"
    assert outputs == ([root] if own_outputs else [])

    monkeypatch.setattr("tools.bootstrap.cache._is_mine", lambda path: owner == "mine")
    assert _below(folder.parent) == folder.parent / name


def test_cache_root_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("tools.bootstrap.cache._home_of_user", lambda: "/nonexistent")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert cache_root() == tmp_path / f"pilotlight-{os.getuid()}"
