# SPDX-License-Identifier: Apache-2.0
"""What a program that takes long does when somebody stops it."""

import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tools.text.progress import clear


def stoppable(main: Callable[..., int | None]) -> Callable[[Sequence[Any]], int | None]:
    """Returns a main that says that somebody stopped it (Ctrl-C), in place of a traceback."""

    def run(argv: Sequence[Any]) -> int | None:
        try:
            return main(argv)
        except KeyboardInterrupt:
            clear()
            print("stopped", file=sys.stderr)
            return 128 + signal.SIGINT

    return run
