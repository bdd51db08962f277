# SPDX-License-Identifier: Apache-2.0
"""Capture of output printed by tools in C++."""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
from collections.abc import Callable, Iterator

_STREAMS = (1, 2)


@contextlib.contextmanager
def captured() -> Iterator[Callable[[], str]]:
    """Capture the process's standard output and error inside the `with` block. The yielded function
    returns the captured text.
    """
    with (
        tempfile.TemporaryFile("w+") as file,
        contextlib.redirect_stdout(file),
        contextlib.redirect_stderr(file),
    ):

        def text() -> str:
            file.flush()
            _flush_c()
            size = os.fstat(file.fileno()).st_size
            return os.pread(file.fileno(), size, 0).decode(errors="replace")

        saved = [os.dup(stream) for stream in _STREAMS]
        for stream in _STREAMS:
            os.dup2(file.fileno(), stream)
        try:
            yield text
        finally:
            _flush_c()
            for stream, copy in zip(_STREAMS, saved, strict=True):
                os.dup2(copy, stream)
                os.close(copy)


def _flush_c() -> None:
    """Flush C's own buffers."""
    ctypes.CDLL(None).fflush(None)
