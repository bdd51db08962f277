# SPDX-License-Identifier: Apache-2.0
"""Progress of a long step, shown on a terminal in one line. The next step overwrites it.

A pipe, a file or a log of Bazel shows no progress: only permanent lines with lasting information
appear there. A dumb terminal shows none either.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

_CLEAR = "\r\x1b[K"


def _is_shown() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def show(text: str) -> None:
    """Show a line in place of the previous one, cut to the window's width."""
    if _is_shown():
        width = shutil.get_terminal_size().columns - 1
        # Return the cursor to the start, so that the next output also overwrites the line.
        sys.stderr.write(f"{_CLEAR}{text[:width]}\r")
        sys.stderr.flush()


def clear() -> None:
    """Take the line away."""
    show("")


def counted(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Yield the items, and show each one's number before it.

    Args:
      items: of a loop.
      what: action of the loop, such as "calibrating: sample".
      total: number of items, if known.
    """
    of = "" if total is None else f" of {total}"
    try:
        for number, item in enumerate(items, 1):
            show(f"{what} {number}{of}")
            yield item
    finally:
        clear()
