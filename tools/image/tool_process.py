# SPDX-License-Identifier: Apache-2.0
"""Runner of a flash tool: the tool never continues after the user thinks it has ended."""

from tools.text.signal_handling import held, leaving

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
    """Print a chunk of output. If printing fails, the tool still finishes and leaves no half image
    on the board.
    """
    try:
        sys.stdout.buffer.write(chunk)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # `| head`
            print(f"what the tool prints is lost: {error.strerror}", file=sys.stderr)


def _stop(process: "subprocess.Popen[bytes]", is_told: bool) -> None:
    """End a tool. It may need to release the probe first; a second Ctrl-C ends it sooner."""
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
    """Run a tool, show its output, and return its exit status and its output.

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
            if process is not None:  # Ctrl-C at the terminal also reaches the tool
                _stop(process, is_told=isinstance(error, KeyboardInterrupt))
            raise
        finally:
            if process is not None and process.stdout is not None:
                process.stdout.close()
    if listener is not None:
        listener.end()
    return process.returncode, b"".join(printed).decode(errors="replace")


def _chunks(output: int, listener: Listener | None) -> Iterator[bytes]:
    """Yield a tool's output; the listener receives the board's output meanwhile."""
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
