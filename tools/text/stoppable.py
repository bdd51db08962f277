# SPDX-License-Identifier: Apache-2.0
"""How programs end that people call: when somebody has enough of them, or asks for help alone.

Programs import it first (ruff keeps it there): what else they import takes time, in which they may
be stopped, too.
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
    if issubclass(kind, KeyboardInterrupt):  # for which Python then ends as signals do
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
    """Within it, a signal to end is an exception, as Ctrl-C is: programs that were started end too.

    What the program was started to ignore (`nohup`) stays so; only a main thread gets signals.
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
    """Within it, Ctrl-C and signals to end wait: a program that is just being started is known
    before it has to be stopped.
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
    """Within it, a program ends without a word where nobody reads what it prints (`| head`), and
    with one line where that goes to a full disk.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError) and error.errno != errno.ENOSPC:
            raise
        # What is left to be written at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(128 + signal.SIGPIPE)
        print(f"what is written does not fit: {error}", file=sys.stderr)
        sys.exit(1)


def stoppable(main: Callable[..., int | None]) -> Callable[[Sequence[Any]], int | None]:
    """Returns a main that somebody can stop so, and that ends where nobody reads on (`| head`)."""

    def run(argv: Sequence[Any]) -> int | None:
        with _read_on(), stopping():
            return main(argv)

    return run


_WRONG_FLAGS = 2
_HELP = "--help lists the flags"
_MISSING = re.compile(r"flag --(\w+)=None: Flag --\1 must have a value other than None\.")


def _missing_named(text: str, flags: Any) -> str:
    """A text of absl, with required flags that are missing as `--key is missing: <its help>`."""
    return _MISSING.sub(lambda found: f"--{found[1]} is missing: {flags[found[1]].help}", text)


def run_main(main: Callable[..., int | None]) -> None:
    """Parses absl's flags, runs main with what is left, and exits with what it returns.

    The status is 2 where a flag or an argument is wrong or missing.
    """
    from absl import app, flags  # imported by a program after this file

    def parse(argv: list[str]) -> list[str]:
        with _read_on():
            try:
                return flags.FLAGS(argv)
            except SystemExit:  # with 1 after --help: absl takes that for a failure
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
