# SPDX-License-Identifier: Apache-2.0
"""Pairs of shapes for ops of two operands."""

from collections.abc import Iterator

from kernels.testing.values import Values

_Shape = tuple[int, ...]

NAMED: list[tuple[str, _Shape, _Shape, bool]] = [
    ("same shape", (2, 3, 4, 5), (2, 3, 4, 5), True),
    ("one value each", (1,), (1,), False),
    ("b one value", (3, 17), (1,), True),
    ("a one value", (1,), (2, 9), True),
    ("numbers", (), (), True),
    ("b a number", (3, 17), (), True),
    ("a a number", (), (2, 9), True),
    ("a one value of rank 4", (1, 1, 1, 1), (3, 5), False),
    ("b per channel", (1, 3, 4, 7), (7,), True),
    ("a per channel", (7,), (2, 3, 1, 7), False),
    ("b per row", (4, 6), (4, 1), True),
    ("a per row", (4, 1), (4, 6), True),
    ("outer", (5, 1), (1, 6), True),
    ("spatial gate", (2, 3, 4, 5), (2, 3, 4, 1), False),
    ("channel gate", (2, 3, 4, 5), (2, 1, 1, 5), True),
    ("both repeat", (2, 1, 3, 1), (1, 4, 1, 5), True),
    ("middle", (2, 1, 5), (2, 4, 5), False),
    ("five loops", (2, 3, 2, 3, 2), (2, 1, 2, 1, 2), True),
    ("rank 6", (2, 1, 2, 1, 2, 3), (2, 1, 2, 1, 2, 3), False),
    ("short rows per channel", (40, 7), (7,), True),
    ("short rows per row", (40, 3), (40, 1), True),
    ("a among short rows", (1, 2), (70, 2), True),
    ("both among short rows", (3, 1, 5), (3, 29, 1), True),
    ("rows of a vector", (9, 8), (8,), False),
    ("long rows per channel", (3, 33), (33,), True),
    ("long rows per row", (3, 17), (3, 1), True),
    ("rank 6, repeated", (1, 1, 2, 3, 4, 5), (2, 3, 2, 3, 4, 5), False),
    ("rank 6 and rank 2", (2, 1, 1, 3, 1, 5), (4, 5), False),
]


def pairs(count: int) -> Iterator[tuple[str, _Shape, _Shape, bool]]:
    """Yield named pairs and random ones: name, shape of a, shape of b, and True for boards too."""
    yield from NAMED
    for index in range(count):
        values = Values("broadcast", index)
        full = [values.integer(1, 6) for _ in range(values.integer(1, 4))]
        a, b = (tuple(1 if values.integer(0, 3) == 0 else size for size in full) for _ in range(2))
        yield f"random {index}", a[values.integer(0, len(a) - 1) * (index % 3 == 0) :], b, False
