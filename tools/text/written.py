# SPDX-License-Identifier: Apache-2.0
"""Atomic writes: a file is written completely, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Write a file inside the `with` block. An error such as a full disk leaves no part of it.

    Raises:
      OSError: the original error, with the file's name.
    """
    try:
        yield
    except OSError as error:
        with suppress(OSError):
            if path.is_file():
                path.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from error
