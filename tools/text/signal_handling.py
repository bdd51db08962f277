# SPDX-License-Identifier: Apache-2.0
"""Signal handling of user-facing programs: interruption by the user, and --help alone.

Programs import it first (ruff keeps it there). Their other imports take time, and they may be
interrupted meanwhile, too.
"""

import errno
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType, TracebackType
from typing import Any, NoReturn

from tools.text.progress import clear


def _say_stopped() -> None:
    clear()
    print("stopped", file=sys.stderr)


def _excepthook(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):  # Python then ends like after a signal
        _say_stopped()
    else:
        sys.__excepthook__(kind, error, traceback)


sys.excepthook = _excepthook


@contextmanager
def stopping() -> Iterator[None]:
    """Within it, Ctrl-C ends the program with one line, in place of a traceback."""
    try:
        yield
    except KeyboardInterrupt:
        _say_stopped()
        sys.exit(128 + signal.SIGINT)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    sys.exit(128 + number)


@contextmanager
def leaving() -> Iterator[None]:
    """Convert a termination signal into an exception inside the `with` block, like Ctrl-C. Started
    programs then end too.

    Signals ignored at the program's start (`nohup`) stay ignored; only a main thread gets signals.
    """
    numbers = [
        number
        for number in (signal.SIGHUP, signal.SIGTERM)
        if current_thread() is main_thread() and signal.getsignal(number) == signal.SIG_DFL
    ]
    for number in numbers:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def held() -> Iterator[None]:
    """Delay Ctrl-C and termination signals inside the `with` block. A program just being started is
    then known before it must be stopped.
    """
    came: list[int] = []
    if current_thread() is not main_thread():
        yield
        return
    ends = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
    numbers = [number for number in ends if signal.getsignal(number) != signal.SIG_IGN]
    before = [signal.signal(number, lambda number, _: came.append(number)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def _read_on() -> Iterator[None]:
    """End silently inside the `with` block if the reader of the output is gone (`| head`). Print
    one line if the disk is full.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError) and error.errno != errno.ENOSPC:
            raise
        # Output left at exit is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(128 + signal.SIGPIPE)
        print(f"what is written does not fit: {error}", file=sys.stderr)
        sys.exit(1)


def stoppable(main: Callable[..., int | None]) -> Callable[[Sequence[Any]], int | None]:
    """Return a main with this signal handling; it also ends if its output is not read
    (`| head`).
    """

    def run(argv: Sequence[Any]) -> int | None:
        with _read_on(), stopping():
            return main(argv)

    return run


_WRONG_FLAGS = 2
_HELP = "--help lists the flags"
_MISSING = re.compile(r"flag --(\w+)=None: Flag --\1 must have a value other than None\.")


def _missing_named(text: str, flags: Any) -> str:
    """Return absl's text, with missing required flags as `--key is missing: <its help>`."""
    return _MISSING.sub(lambda found: f"--{found[1]} is missing: {flags[found[1]].help}", text)


def run_main(main: Callable[..., int | None]) -> None:
    """Parse absl's flags, run main with the remaining arguments, and exit with its result.

    The status is 2 if a flag or an argument is wrong or missing.
    """
    from absl import app, flags  # imported by a program after this file

    def parse(argv: list[str]) -> list[str]:
        with _read_on():
            try:
                return flags.FLAGS(argv)
            except SystemExit:  # status 1 after --help: absl treats that as a failure
                sys.stdout.flush()
                sys.exit(0)
            except flags.Error as error:
                print(_missing_named(str(error), flags.FLAGS), file=sys.stderr)
                print(_HELP, file=sys.stderr)
                sys.exit(_WRONG_FLAGS)

    def run(argv: Sequence[str]) -> int | None:
        try:
            return main(argv)
        except app.UsageError as error:
            print(f"{error}\n{_HELP}", file=sys.stderr)
            return _WRONG_FLAGS

    app.run(stoppable(run), flags_parser=parse)
