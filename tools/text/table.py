# SPDX-License-Identifier: Apache-2.0
"""Tables for people: programs print theirs through here."""

import re
import shutil
import sys
from collections.abc import Sequence

_ALIGNMENT = {"l": "left", "r": "right"}

_GAP = 2

# A column of text is not made narrower than this.
_LEAST = 12

# Line breaks in a cell: after spaces, and in names after joining characters.
_PARTS = re.compile(r"\s+|[^\s_./:,]+[_./:,]*|[_./:,]+")


def window() -> int | None:
    """Return the columns of the output terminal; None for a pipe or a file, whose lines stay
    unwrapped.
    """
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def table(
    rows: Sequence[Sequence[object]], align: str = "", indent: str = "", width: int | None = None
) -> str:
    """Return rows as lines, with aligned columns two spaces apart.

    If the window is too narrow, text cells continue on the next line. If that is not enough, each
    row becomes a paragraph, with the columns' names next to its cells.

    Args:
      rows: cells, printed unchanged; the first row may be the columns' names.
      align: a letter per column, l for left and r for right; the default is left.
      indent: before each line.
      width: of the window; the default is the terminal's, if there is one.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    count = max(map(len, cells), default=0)
    letters = align.ljust(count, "l")[:count]
    width = width or window()
    if width:
        room = width - len(indent) - _GAP * (count - 1)
        columns = _narrowed(_widths(cells, count), letters, room)
        if sum(columns) > room and len(cells) > 1:
            return _paragraphs(cells, indent, width)
        cells = [
            ["\n".join(_wrapped(cell, columns[i])) for i, cell in enumerate(row)] for row in cells
        ]
    # Imported here: most programs that may print a table end sooner, without one.
    from tabulate import tabulate

    text = tabulate(
        cells,
        tablefmt="plain",
        colalign=[_ALIGNMENT[letter] for letter in letters] if count else None,
        disable_numparse=True,
    )
    return "\n".join((indent + line).rstrip() for line in text.splitlines())


def _widths(cells: Sequence[Sequence[str]], count: int) -> list[int]:
    return [max(len(row[i]) for row in cells if i < len(row)) for i in range(count)]


def _narrowed(widths: list[int], letters: str, room: int) -> list[int]:
    """Return the widths with columns of text as narrow as they must be to fit."""
    while sum(widths) > room:
        most = max((w for w, a in zip(widths, letters, strict=True) if a == "l"), default=0)
        if most <= _LEAST:
            break
        widths[next(i for i, w in enumerate(widths) if w == most and letters[i] == "l")] -= 1
    return widths


def _wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a cell."""
    if len(text) <= width:
        return [text]
    lines = [""]
    for part in _PARTS.findall(text):
        if len(lines[-1] + part.rstrip()) > width:
            lines.append("")
            part = part.lstrip()
        while len(part) > width:
            lines[-1:] = [part[:width], ""]
            part = part[width:]
        lines[-1] += part
    return [line.rstrip() for line in lines if line.strip()]


def _paragraphs(cells: Sequence[Sequence[str]], indent: str, width: int) -> str:
    """Return one paragraph per row; the first row has the columns' names."""
    head, *rows = cells
    names = max(map(len, head))
    lines = []
    for row in rows:
        first, *rest = _wrapped(row[0], max(_LEAST, width - len(indent)))
        lines += [indent + line for line in (first, *rest)]
        for name, cell in zip(head[1:], row[1:], strict=False):
            shown = _wrapped(cell, max(_LEAST, width - len(indent) - names - 2 * _GAP))
            for i, line in enumerate(shown if cell else []):
                title = "" if i else name
                lines.append(f"{indent}{'':{_GAP}}{title:{names}}{'':{_GAP}}{line}".rstrip())
    return "\n".join(lines)
