# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path
from typing import Any

import pytest
from absl.testing import flagsaver

from boards.board import load_board
from boards.image.flash import FlashError, flash_command, main


def _board(folder: Path, flash: dict[str, str] | None) -> Path:
    data: dict[str, Any] = {
        "name": "bench",
        "description": "a board",
        "core": "cortex-m0",
        "isa": "scalar",
        "memories": [{"name": "flash", "base": 0, "size": 65536, "kind": "flash"}],
        "code": "flash",
        "weights": "flash",
        "data": "ram",
        "stack": 2048,
        "handler_stack": 128,
        "variables": 512,
        "arena": [],
        "console": {"driver": "nrf_uart"},
        "npu": None,
        "simulator": None,
        "flash": flash,
    }
    path = folder / "board.json"
    path.write_text(json.dumps(data))
    return path


def _tool(folder: Path, status: int) -> None:
    """A pyocd that writes its arguments down."""
    tool = folder / "pyocd"
    tool.write_text(f'#!/bin/sh\necho "$@" >"{folder}/called"\nexit {status}\n')
    tool.chmod(0o755)


_PYOCD = {"method": "pyocd", "target": "nrf51"}


@pytest.mark.parametrize("status", [0, 3])
def test_the_tool_runs_and_its_status_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    _tool(tmp_path, status)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with flagsaver.as_parsed(board=str(_board(tmp_path, _PYOCD))):
        assert main(["flash", "app.hex", "--frequency=1m"]) == status
    called = (tmp_path / "called").read_text()
    assert called == "flash --target nrf51 app.hex --frequency=1m\n"


def test_a_board_without_a_method(tmp_path: Path) -> None:
    board = load_board(_board(tmp_path, None))
    with pytest.raises(FlashError, match="bench names no flash method .* copy app.hex to it"):
        flash_command(board, Path("app.hex"))


def test_a_tool_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with flagsaver.as_parsed(board=str(_board(tmp_path, _PYOCD))):
        assert main(["flash", "app.hex"]) == 1
    assert capsys.readouterr().err == "pyocd is not installed: pip install pyocd\n"
