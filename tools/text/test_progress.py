# SPDX-License-Identifier: Apache-2.0
"""Progress: on a terminal, as wide as it is, and nowhere else."""

import io
import os

import pytest

from tools.text import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "term", "shown"),
    [(Terminal(), "xterm", True), (Terminal(), "dumb", False), (io.StringIO(), "xterm", False)],
)
def test_only_on_a_terminal(
    stream: io.StringIO, term: str, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", term)
    assert list(progress.counted("ab", "letter", 2)) == ["a", "b"]
    text = stream.getvalue()
    assert ("letter 2 of 2" in text) == shown == bool(text)


def test_a_narrow_window_is_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((20, 5)))
    progress.show("x" * 50)
    assert stream.getvalue().count("x") == 19
    progress.clear()
    assert stream.getvalue().endswith("\r\x1b[K\r")


def test_it_is_taken_away_where_a_loop_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(ValueError):
        for _ in progress.counted("ab", "letter"):
            raise ValueError
    assert "letter 1" in stream.getvalue()
