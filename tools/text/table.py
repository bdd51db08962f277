# SPDX-License-Identifier: Apache-2.0
"""Tables for people: programs print theirs through here."""

from collections.abc import Sequence

from tabulate import tabulate

_ALIGNMENT = {"l": "left", "r": "right"}


def table(rows: Sequence[Sequence[object]], align: str = "", indent: str = "") -> str:
    """Rows as lines, with columns of one width that are two spaces apart.

    Args:
      rows: cells, printed as they are; the first row may be the columns' names.
      align: a letter a column, l for left and r for right; what is not said is left.
      indent: before each line.
    """
    count = max(map(len, rows), default=0)
    text = tabulate(
        [[str(cell) for cell in row] for row in rows],
        tablefmt="plain",
        colalign=[_ALIGNMENT[letter] for letter in align.ljust(count, "l")] if count else None,
        disable_numparse=True,
    )
    return "\n".join((indent + line).rstrip() for line in text.splitlines())
