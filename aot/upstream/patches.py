# SPDX-License-Identifier: Apache-2.0
"""Temporary replacement of library functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

_lock = RLock()


@contextmanager
def patched(owner: Any, **values: object) -> Iterator[None]:
    """Within it, the named attributes of a module or a class have other values. One thread at a
    time is in it: of two the later would leave the values of the earlier.
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
