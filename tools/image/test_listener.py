# SPDX-License-Identifier: Apache-2.0
"""Output of a board at each moment: earlier program or new program."""

import os
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tools.image.listener import Listener


@pytest.fixture(name="pipe")
def _pipe() -> Iterator[tuple[int, int]]:
    ours, board = os.pipe()
    os.set_blocking(ours, False)
    yield ours, board
    os.close(ours)
    os.close(board)


def test_what_comes_before_and_just_after_the_tool_says_so_is_dropped(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 10.0
    monkeypatch.setattr("tools.image.listener.time", SimpleNamespace(monotonic=lambda: now))
    ours, board = pipe
    listener = Listener(ours, r"Erasing\.\.\.")
    assert listener.receive()  # nothing is there, and the port is
    os.write(board, b"PL:PASS\n")
    assert listener.receive()
    listener.hear(b"connecting, Era")
    os.write(board, b"PL:PASS\n")
    assert listener.receive() and listener.may_have_lost
    os.write(board, b"PL:PASS\n")  # there already, and nobody has read it yet
    listener.hear(b"sing...")  # split in two
    now += 0.01
    os.write(board, b"PL:PASS\n")  # on its way when the chip was stopped
    assert listener.receive() and listener.text == b""
    now += 0.1
    os.write(board, b"hello\n")
    assert listener.receive()
    os.write(board, b"PL:")
    listener.end()
    assert (listener.text, listener.may_have_lost) == (b"hello\nPL:", False)


@pytest.mark.parametrize("stopped", ["", "Erasing"])
def test_without_a_word_all_is_dropped_until_the_tool_ends(
    pipe: tuple[int, int], stopped: str
) -> None:
    ours, board = pipe
    listener = Listener(ours, stopped)
    listener.hear(b"writing\n")
    listener.end()
    assert not listener.may_have_lost
    os.write(board, b"PL:PASS\n")
    listener.end()
    assert (listener.text, listener.may_have_lost) == (b"", True)


def test_a_port_that_is_gone() -> None:
    ours, board = os.pipe()
    os.close(board)
    assert not Listener(ours, "").receive()
    os.close(ours)
