# SPDX-License-Identifier: Apache-2.0
import re
from pathlib import Path

import pytest
from absl.testing import flagsaver

from boards.board import load_board
from boards.image.flash import FlashError, flash_command, main, visible_path

_BOARDS = Path("boards")
_WITH_PYOCD = _BOARDS / "microbit" / "microbit.json"
_WITHOUT = _BOARDS / "corstone300" / "corstone300.json"


def _tool(folder: Path, status: int) -> None:
    """A pyocd that writes down its arguments, and the folder it runs in."""
    tool = folder / "pyocd"
    tool.write_text(f'#!/bin/sh\necho "$@" >"{folder}/called"\npwd >"{folder}/in"\nexit {status}\n')
    tool.chmod(0o755)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose image was built, seen from among the runfiles, as `bazel run` does it."""
    output = tmp_path / "cache" / "execroot" / "bazel-out"
    built = output / "a-board" / "bin" / "pkg" / "app.hex"
    built.parent.mkdir(parents=True)
    built.write_text(":00000001FF\n")
    runfiles = tmp_path / "cache" / "app.flash.runfiles"
    (runfiles / "pkg").mkdir(parents=True)
    (runfiles / "pkg" / "app.hex").symlink_to(built)
    (runfiles / "boards").symlink_to(_BOARDS.resolve())
    folder = tmp_path / "workspace"
    (folder / "pkg").mkdir(parents=True)
    (folder / "bazel-out").symlink_to(output)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(folder))
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(folder))
    monkeypatch.chdir(runfiles)
    return folder


@pytest.mark.parametrize("status", [0, 3])
def test_the_tool_runs_and_its_status_is_ours(
    tmp_path: Path, workspace: Path, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    _tool(tmp_path, status)
    with flagsaver.as_parsed(board=str(_WITH_PYOCD)):
        assert main(["flash", "pkg/app.hex", "--frequency=1m"]) == status
    image = "bazel-out/a-board/bin/pkg/app.hex"
    called = (tmp_path / "called").read_text()
    assert called == f"flash --no-wait --target nrf51 {image} --frequency=1m\n"
    assert (tmp_path / "in").read_text() == f"{workspace}\n"
    ended = f"{tmp_path}/pyocd ended with status 3; the image is {image}\n"
    assert capsys.readouterr().err == (ended if status else "")


@pytest.mark.parametrize("folder", [".", "pkg"])
def test_the_image_is_named_as_it_is_seen_from_the_users_folder(
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folder: str,
) -> None:
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(workspace / folder))
    with flagsaver.as_parsed(board=str(_WITHOUT)):
        assert main(["flash", "pkg/app.hex"]) == 1
    named = re.search(r"copy (\S+app\.hex) to it as its maker says$", capsys.readouterr().err)
    assert named is not None
    assert not Path(named[1]).is_absolute()
    assert (workspace / folder / named[1]).read_text() == ":00000001FF\n"


@pytest.mark.parametrize("variable", ["BUILD_WORKSPACE_DIRECTORY", None])
def test_where_the_workspace_has_no_link_the_path_is_whole(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, variable: str | None
) -> None:
    """Without `bazel run`, or with its links switched off."""
    if variable:
        monkeypatch.delenv(variable)
    else:
        (workspace / "bazel-out").unlink()
    path = visible_path(Path("pkg/app.hex"))
    assert path.is_absolute() and path.exists()


def test_a_board_without_a_method() -> None:
    board = load_board(_WITHOUT)
    with pytest.raises(FlashError, match="corstone300 names no flash method .* copy app.hex to it"):
        flash_command(board, Path("app.hex"))


def test_a_tool_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with flagsaver.as_parsed(board=str(_WITH_PYOCD)):
        assert main(["flash", "app.hex"]) == 1
    assert capsys.readouterr().err == "pyocd is not installed: pip install pyocd\n"
