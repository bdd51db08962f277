# SPDX-License-Identifier: Apache-2.0
"""Keeps what tools in C++ print."""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
from collections.abc import Callable, Iterator

_STREAMS = (1, 2)


@contextlib.contextmanager
def captured() -> Iterator[Callable[[], str]]:
    """While it lasts nothing reaches the process's standard output and error; what would have is
    what the function that it gives returns.
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
    """What C has in buffers of its own."""
    ctypes.CDLL(None).fflush(None)
