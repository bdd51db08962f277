# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from absl.testing import flagsaver

from boards.board import load_board
from boards.image.flash import FlashError, flash_command, main

_BOARDS = Path("boards")
_WITH_PYOCD = _BOARDS / "microbit" / "microbit.json"
_WITHOUT = _BOARDS / "corstone300" / "corstone300.json"


def _tool(folder: Path, status: int) -> None:
    """A pyocd that writes its arguments down."""
    tool = folder / "pyocd"
    tool.write_text(f'#!/bin/sh\necho "$@" >"{folder}/called"\nexit {status}\n')
    tool.chmod(0o755)


@pytest.mark.parametrize("status", [0, 3])
def test_the_tool_runs_and_its_status_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    _tool(tmp_path, status)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with flagsaver.as_parsed(board=str(_WITH_PYOCD)):
        assert main(["flash", "app.hex", "--frequency=1m"]) == status
    called = (tmp_path / "called").read_text()
    assert called == "flash --target nrf51 app.hex --frequency=1m\n"


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
