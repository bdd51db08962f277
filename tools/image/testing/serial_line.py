# SPDX-License-Identifier: Apache-2.0
"""A serial line without a board, for tests."""

import os
import pty
from collections.abc import Iterator


def serial_line() -> Iterator[tuple[int, str]]:
    """Yield the board's end of its serial line, and the port's name on the host (a fixture)."""
    board, ours = pty.openpty()
    yield board, os.ttyname(ours)
    os.close(board)
    os.close(ours)
