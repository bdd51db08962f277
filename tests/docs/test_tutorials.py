# SPDX-License-Identifier: Apache-2.0
"""The tutorials show the files of an example that is built and run, and the pins of the boards."""

import re

import pytest

from tests.docs.starlark import Starlark
from tools.lint.workspace import workspace_root

_ROOT = workspace_root()
_EXAMPLE = _ROOT / "examples" / "recorded"
_PAGES = _ROOT / "docs" / "tutorials"


@pytest.mark.parametrize(
    ("language", "file"), [("starlark", "BUILD.bazel"), ("python", "model.py"), ("c", "recorder.c")]
)
def test_the_page_shows_the_example(language: str, file: str) -> None:
    page = (_PAGES / "your_model.md").read_text()
    blocks = re.findall(rf"^```{language}\n(.*?)^```", page, re.M | re.S)
    assert (_EXAMPLE / file).read_text().endswith("\n" + blocks[0])


def test_recordings_are_whole_windows() -> None:
    lines = (_EXAMPLE / "recordings.txt").read_text().splitlines()
    assert len(lines) % 64 == 0
    assert all(re.fullmatch(r"REC( -?\d+){3}", line) for line in lines)


def _consoles() -> dict[str, tuple[str, str]]:
    rows = re.findall(r"^\|.*?`(\w+)` \|.*\| (\w+), (\w+) \|", _page("nucleo"), re.M)
    return {board: (rx, tx) for board, rx, tx in rows}


def _page(name: str) -> str:
    return (_PAGES / f"{name}.md").read_text()


def test_the_pins_are_the_boards() -> None:
    consoles = _consoles() | {"pico2": ("P0.01", "P0.00")}
    assert len(consoles) == 5
    assert "| GP0, pin 1 (TX) | RX |" in _page("pico2")
    for board, (rx, tx) in consoles.items():
        text = (_ROOT / "boards" / board / "BUILD.bazel").read_text()
        assert re.findall(r'[rt]x = "(.*?)"', text) == [rx, tx]


def test_boards_of_the_tables_have_a_simulator() -> None:
    names = re.findall(r"^\| Cortex-.*\| `(\w+)` \|$", _page("no_board"), re.M)
    simulated = Starlark(_ROOT).file("boards/boards.bzl")["SIMULATED"]
    assert len(names) == 6
    assert [name for name in names if f"//boards/{name}" not in simulated] == []
