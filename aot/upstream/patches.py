# SPDX-License-Identifier: Apache-2.0
"""Replaces library functions temporarily."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

_lock = RLock()


@contextmanager
def patched(owner: Any, **values: object) -> Iterator[None]:
    """Within the context, replace attributes of a module or class.

    Threads take turns, so that each restores the original values.
    """
    with _lock:
        before = {name: getattr(owner, name) for name in values}
        try:
            for name, value in values.items():
                setattr(owner, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(owner, name, value)
