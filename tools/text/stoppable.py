# SPDX-License-Identifier: Apache-2.0
"""What a program that takes long, or prints much, does when somebody has enough of it."""

import os
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
    """Returns a main that somebody can stop so, and that ends where nobody reads on (`| head`)."""

    def run(argv: Sequence[Any]) -> int | None:
        try:
            with stopping():
                result = main(argv)
                sys.stdout.flush()
                return result
        except BrokenPipeError:
            # What is left to be written at exit goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 128 + signal.SIGPIPE

    return run
