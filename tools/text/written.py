# SPDX-License-Identifier: Apache-2.0
"""Files that a program writes: whole, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Within it a file is written. After an error, as of a full disk, no part of it is left.

    Raises:
      OSError: as it came, with the file's name.
    """
    try:
        yield
    except OSError as error:
        with suppress(OSError):
            if path.is_file():
                path.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from error
