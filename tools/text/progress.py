# SPDX-License-Identifier: Apache-2.0
"""Shows on a terminal how far a long step is, in one line that the next one takes the place of.

In a pipe, a file or a log of Bazel there is none of it: what stays are lines that say something to
whoever reads them later. Neither is there on a terminal that is dumb.
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
    """Shows a line in the place of the one before, as much of it as the window has room for."""
    if _is_shown():
        width = shutil.get_terminal_size().columns - 1
        # Back at its start, so that whatever is printed next takes its place, too.
        sys.stderr.write(f"{_CLEAR}{text[:width]}\r")
        sys.stderr.flush()


def clear() -> None:
    """Takes the line away."""
    show("")


def counted(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Gives the items, and shows before each which it is.

    Args:
      items: of a loop.
      what: the loop does, such as "calibrating: sample".
      total: how many items there are, if that is known.
    """
    of = "" if total is None else f" of {total}"
    try:
        for number, item in enumerate(items, 1):
            show(f"{what} {number}{of}")
            yield item
    finally:
        clear()
