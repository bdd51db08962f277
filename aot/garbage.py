# SPDX-License-Identifier: Apache-2.0
"""Garbage collection while many objects are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def older_objects_left() -> Iterator[None]:
    """Within it, Python looks for garbage among new objects only, not among the million that torch
    has made by then: they take half a second each time.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
