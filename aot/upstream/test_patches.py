# SPDX-License-Identifier: Apache-2.0
"""A temporarily replaced function is restored."""

from __future__ import annotations

from threading import Event, Thread
from types import SimpleNamespace

import pytest

from aot.upstream.patches import patched


def test_what_was_there_is_there_again() -> None:
    owner = SimpleNamespace(first=1, second=2)
    with pytest.raises(ZeroDivisionError), patched(owner, first=3), patched(owner, first=4):
        assert (owner.first, owner.second) == (4, 2)
        raise ZeroDivisionError
    assert (owner.first, owner.second) == (1, 2)


def test_a_thread_waits_for_another() -> None:
    """Otherwise the second thread would save the replacement of the first as the original."""
    owner, left = SimpleNamespace(value=0), Event()

    def replace_too() -> None:
        with patched(owner, value=2):
            left.wait()

    thread = Thread(target=replace_too)
    with patched(owner, value=1):
        thread.start()
        thread.join(timeout=0.2)
        assert owner.value == 1
    left.set()
    thread.join()
    assert owner.value == 0
