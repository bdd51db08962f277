# SPDX-License-Identifier: Apache-2.0
"""The table that a build ends with when something is too large for a board."""

from collections.abc import Sequence

STATUS_DOES_NOT_FIT = 3
"""Exit status of a program that prints the table."""


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows as lines, with columns of the same width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def does_not_fit_table(
    title: str,
    need: int,
    have: int,
    where: Sequence[tuple[str, str]],
    largest: Sequence[tuple[str, int]],
) -> str:
    """The table as text.

    Args:
      title: what does not fit on which board, and which memory is too small.
      need, have: bytes.
      where: further rows, (name, text).
      largest: (what, bytes) of what takes most, largest first.
    """
    rows = [
        ("need", f"{need:,} bytes"),
        ("have", f"{have:,} bytes"),
        ("missing", f"{need - have:,} bytes"),
        *where,
        *(
            (f"largest {rank}", f"{size:,} bytes  {what}")
            for rank, (what, size) in enumerate(largest, 1)
        ),
    ]
    return "\n".join([title, *("  " + line for line in aligned(rows))]) + "\n"
