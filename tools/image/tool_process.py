# SPDX-License-Identifier: Apache-2.0
"""Runs a flash tool, so that it never goes on where its user thinks that it has ended."""

from tools.text.stoppable import held, leaving

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence

from tools.image.flash_tools import environment
from tools.image.listener import Listener

_SECONDS_TO_STOP = 3


def _show(chunk: bytes) -> None:
    """Prints it. Where that is not possible the board is not left with half of an image."""
    try:
        sys.stdout.buffer.write(chunk)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # `| head`
            print(f"what the tool prints is lost: {error.strerror}", file=sys.stderr)


def _stop(process: "subprocess.Popen[bytes]", is_told: bool) -> None:
    """Has a tool end, which may have to let go of the probe; Ctrl-C once more has it end sooner."""
    for end in (None, process.terminate, process.kill):
        if end is not None:
            end()
        elif not is_told:
            continue
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(_SECONDS_TO_STOP)
            return


def run_tool(
    command: Sequence[str], folder: str | None, listener: Listener | None
) -> tuple[int, str]:
    """Runs a tool, shows what it prints, and returns its exit status and that.

    Raises:
        OSError: it does not start.
    """
    printed = []
    process = None
    with leaving():
        try:
            with held():
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=environment(),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
            assert process.stdout is not None
            for chunk in _chunks(process.stdout.fileno(), listener):
                printed.append(chunk)
                _show(chunk)
            process.wait()
        except BaseException as error:
            if process is not None:  # who types Ctrl-C has told it
                _stop(process, is_told=isinstance(error, KeyboardInterrupt))
            raise
        finally:
            if process is not None and process.stdout is not None:
                process.stdout.close()
    if listener is not None:
        listener.end()
    return process.returncode, b"".join(printed).decode(errors="replace")


def _chunks(output: int, listener: Listener | None) -> Iterator[bytes]:
    """Yields what a tool prints; what a board prints meanwhile goes to the listener."""
    sources: list[int | Listener] = [output, *([listener] if listener is not None else [])]
    while True:
        ready, _, _ = select.select(sources, [], [])
        if listener is not None and listener in ready and not listener.receive():
            sources.remove(listener)
        if output in ready:
            chunk = os.read(output, 4096)
            if not chunk:
                return
            if listener is not None:
                listener.hear(chunk)
            yield chunk
