# SPDX-License-Identifier: Apache-2.0
"""Table printed at the end of a build if something is too large for a board."""

from collections.abc import Sequence

from tools.text.table import table

STATUS_DOES_NOT_FIT = 3
"""Exit status of a program after printing the table."""


def does_not_fit_table(
    title: str,
    need: int,
    have: int,
    where: Sequence[tuple[str, str]],
    largest: Sequence[tuple[str, int]],
) -> str:
    """Return the table as text.

    Args:
      title: the item, the board, and the memory too small for it.
      need, have: bytes.
      where: further rows, (name, text).
      largest: (item, bytes) of the largest items, largest first.
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
    return f"{title}\n{table(rows, indent='  ')}\n"
