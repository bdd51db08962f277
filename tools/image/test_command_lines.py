# SPDX-License-Identifier: Apache-2.0
"""Command lines of `.flash` for every board on sale, checked with readers following the tools'
manuals.
"""

import dataclasses
from pathlib import Path

import pytest

from boards.board import Board, load_board
from tools.image.command_lines import READERS, UsageError
from tools.image.flash import flash
from tools.image.flash_tools import METHODS, Image

_METHODS = [
    (board, method)
    for file in sorted(Path("boards").glob("*/*.data.json"))
    for board in [load_board(file)]
    for method in board.flash
    if method["method"] != "uf2"
]
_TOOL = """\
#!/bin/sh
printf '%s\\0' "$@" >"{folder}/words"
for word; do case "$word" in */script) cat "$word" >"{folder}/script";; esac; done
"""


def _told(
    board: Board, method: dict[str, object], probe: str, folder: Path, patch: pytest.MonkeyPatch
) -> tuple[list[str], str]:
    """Return the arguments of the method's tool, and its script."""
    tool = folder / METHODS[str(method["method"])].program
    tool.write_text(_TOOL.format(folder=folder))
    tool.chmod(0o755)
    patch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    image = Image(Path("out/my app.hex"), Path("out/my app.bin"))
    flash(dataclasses.replace(board, flash=(method,)), image, "", probe, [])
    script = folder / "script"
    words = (folder / "words").read_text().split("\0")[:-1]
    return words, script.read_text() if script.exists() else ""


def test_every_tool_is_read() -> None:
    assert READERS.keys() == METHODS.keys()
    assert {method["method"] for _, method in _METHODS} == METHODS.keys()


@pytest.mark.parametrize("probe", ["", "42"])
@pytest.mark.parametrize(
    ("board", "method"),
    _METHODS,
    ids=[f"{board.name}-{method['method']}" for board, method in _METHODS],
)
def test_the_tool_takes_it(
    board: Board,
    method: dict[str, object],
    probe: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = str(method["method"])
    words, script = _told(board, method, probe, tmp_path, monkeypatch)
    kind = "bin" if name in ("dfu_util", "bossac") else "hex"
    assert READERS[name](words, script) == (f"out/my app.{kind}", probe)
    for spoiled in ([*words, "--no-such-option"], words[:-1], ["write", *words]):
        with pytest.raises(UsageError):
            READERS[name](spoiled, script)
