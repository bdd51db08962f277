# SPDX-License-Identifier: Apache-2.0
"""Record a command in a terminal as an animated SVG, which needs no script and no network.

    tools/bazel run //tools/text:record -- --output=$PWD/docs/images/first_run.svg \\
        --omit='loading|Invocation|^Comp|^Loading|^Analyzing|actions|Running' \\
        -- tools/bazel run //boards:corstone300_app.sim
"""

from tools.text.signal_handling import run_main

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from absl import app, flags

_OUTPUT = flags.DEFINE_string("output", None, "The SVG to write.", required=True)
_OMIT = flags.DEFINE_string("omit", "", "Leave out lines that match this expression.")
_COLUMNS, _ROW, _GLYPH = 100, 19, 8.4
_PAUSE = 0.6  # longest, in seconds of the film
_FLASH = 0.1  # a line that is overwritten sooner cannot be read
_TOKEN = re.compile(r"\x1b\[\d*A|\x1b\[[\d;?]*[A-Za-z]|\x1b[=>78]|[\r\n]|[^\x1b\r\n]+")
_STYLE = """rect{fill:#12161c}text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#d5dae1;
white-space:pre}.c{fill:#7fd88f}@keyframes h{from,to{opacity:0}}@keyframes s{from,to{opacity:1}}
@media(prefers-reduced-motion){text{animation:none!important}}"""


@dataclass
class Line:
    """Text of one row of the screen, visible from `start` until `end` (None: it stays)."""

    row: int
    text: str
    start: float
    end: float | None = None


def lines(chunks: Iterable[tuple[float, str]]) -> list[Line]:
    """Return the lines of a terminal that gets text at the given seconds.

    Lines overwritten at once are left out.

    Carriage return, cursor up and erase are followed, other control sequences are dropped.
    """
    found: list[Line] = []
    rows: dict[int, Line] = {}
    row, at_start, clock, last = 0, True, 0.0, 0.0
    for now, text in chunks:
        clock, last = clock + min(now - last, _PAUSE), now
        for token in _TOKEN.findall(text):
            if token in "\r\n":
                row, at_start = row + (token == "\n"), True
            elif token[0] == "\x1b" and token[-1] == "A":
                row -= int(token[2:-1] or 1)
            elif at_start and (token[-2:] == "[K" or token[0] != "\x1b"):
                if row in rows:
                    rows.pop(row).end = clock
                if token[0] != "\x1b":
                    rows[row] = Line(row, token, clock)
                    found.append(rows[row])
                    at_start = False
            elif token[0] != "\x1b":
                rows[row].text += token
    shown = (line for line in found if line.end is None or line.end - line.start > _FLASH)
    return [line for line in shown if line.text.strip()]


def without(found: Iterable[Line], pattern: str) -> list[Line]:
    """Return the lines without a match. Later lines move up into empty rows."""
    all_lines = list(found)
    kept = [line for line in all_lines if not pattern or not re.search(pattern, line.text)]
    left = {line.row for line in all_lines} - {line.row for line in kept}
    return [replace(line, row=line.row - sum(row < line.row for row in left)) for line in kept]


def svg(command: str, found: list[Line]) -> str:
    """Return the picture: the command, then each line at its time."""
    height = (max(line.row for line in found if line.end is None) + 3) * _ROW
    width = round(_COLUMNS * _GLYPH) + 24
    texts = [f'<text x="12" y="{_ROW + 4}" class="c">$ {escape(command)}</text>']
    for line in found:
        if line.end is None:
            style = f"animation:h {line.start + 1:.2f}s"
        else:
            seconds = line.end - line.start
            style = f"opacity:0;animation:s {seconds:.2f}s {line.start + 1:.2f}s"
        y = (line.row + 2) * _ROW + 4
        text = escape(line.text[:_COLUMNS])
        texts.append(f'<text x="12" y="{y}" style="{style}">{text}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
        f'<title>{escape(command)}</title><style>{_STYLE}</style><rect width="100%" '
        f'height="100%" rx="8"/>\n' + "\n".join(texts) + "\n</svg>\n"
    )


def output_of(command: Sequence[str], folder: Path) -> Iterator[tuple[float, str]]:
    """Run a command in a terminal and yield its output, each part with its time in seconds.

    Raises:
      CalledProcessError: if it fails.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, _COLUMNS, 0, 0))
    start = time.monotonic()
    with subprocess.Popen(command, cwd=folder, stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        # Linux ends the output of a terminal with an OSError.
        with open(ours, errors="replace", newline="") as screen, contextlib.suppress(OSError):
            while text := screen.readline():
                yield time.monotonic() - start, text
        if process.wait() != 0:
            raise subprocess.CalledProcessError(process.returncode, list(command))


def main(argv: list[str]) -> None:
    if len(argv) < 2:
        raise app.UsageError("give the command after --")
    folder = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    found = without(lines(list(output_of(argv[1:], folder))), _OMIT.value)
    Path(_OUTPUT.value).write_text(svg(" ".join(argv[1:]), found))


if __name__ == "__main__":
    run_main(main)
