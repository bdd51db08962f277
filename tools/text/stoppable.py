# SPDX-License-Identifier: Apache-2.0
"""What a program that takes long does when somebody stops it."""

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tools.text.progress import clear


@contextmanager
def stopping() -> Iterator[None]:
    """Within it, Ctrl-C ends the program with one line, in place of a traceback."""
    try:
        yield
    except KeyboardInterrupt:
        clear()
        print("stopped", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)


def stoppable(main: Callable[..., int | None]) -> Callable[[Sequence[Any]], int | None]:
    """Returns a main that somebody can stop so."""

    def run(argv: Sequence[Any]) -> int | None:
        with stopping():
            return main(argv)

    return run
