# SPDX-License-Identifier: Apache-2.0
"""Pauses garbage collection while many objects are created."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from aot.upstream.torchao import forget_modules

_NEVER = 1 << 30
_MANY = 30
"""Number of collections of newer objects that justifies one full collection."""

_lock = Lock()
_within: list[tuple[int, int, int]] = []
"""Previous thresholds, one entry per active context."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Within the context, limit Python's garbage collection to new objects.

    Torch has created a million objects by then; a full collection takes half a second each time.
    Graphs refer to themselves. Therefore a full collection runs at the end if many newer
    collections came together, here or in earlier calls. Objects kept by quantization are dropped
    first. If there are several threads, the last one to leave restores the previous thresholds.
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
