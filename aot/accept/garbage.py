# SPDX-License-Identifier: Apache-2.0
"""Garbage collection while many objects are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from aot.upstream.torchao import forget_modules

_NEVER = 1 << 30
_MANY = 30
"""Collections of newer objects that one of all is worth."""

_lock = Lock()
_within: list[tuple[int, int, int]] = []
"""The thresholds before, once for each that is within."""


@contextmanager
def older_objects_left() -> Iterator[None]:
    """Within it, Python looks for garbage among new objects only, not among the million that torch
    has made by then: they take half a second each time. Graphs hold themselves, so it looks at all
    at the end if much has come together, here or in earlier calls; what quantization keeps of them
    is dropped before. Of several threads the last one that leaves gives back what was before.
    """
    with _lock:
        before = _within[0] if _within else gc.get_threshold()
        _within.append(before)
        gc.set_threshold(*before[:2], _NEVER)
    try:
        yield
    finally:
        with _lock:
            _within.pop()
            if not _within:
                gc.set_threshold(*before)
        forget_modules()
        if gc.isenabled() and gc.get_count()[2] > _MANY:
            gc.collect()
