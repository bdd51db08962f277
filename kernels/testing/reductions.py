# SPDX-License-Identifier: Apache-2.0
"""Shapes and dimensions for reducing cases."""

from collections.abc import Iterator

from kernels.testing.values import Values

_NAMED: list[tuple[str, tuple[int, ...], list[int], bool]] = [
    ("spatial", (1, 5, 4, 8), [1, 2], True),
    ("spatial, odd channels", (2, 3, 3, 7), [1, 2], True),
    ("last", (6, 33), [1], True),
    ("first", (9, 10), [0], True),
    ("middle", (3, 4, 5), [1], False),
    ("all", (3, 4, 5), [0, 1, 2], True),
    ("outer and inner", (3, 4, 5), [0, 2], True),
    ("NCHW spatial", (2, 3, 4, 5), [2, 3], False),
    ("two groups", (2, 3, 4, 5), [1, 3], True),
    ("two groups, rank 6", (2, 3, 1, 4, 5, 2), [1, 4, 5], False),
    ("three groups", (2, 3, 2, 2, 3), [0, 2, 4], True),
    ("three groups, rank 6", (3, 2, 2, 3, 2, 2), [1, 3, 5], False),
    ("three groups, last kept", (2, 3, 2, 2, 2, 5), [0, 2, 4], True),
    ("size one", (4, 1, 5), [1], False),
    ("one value", (1,), [0], False),
    ("vector", (100,), [0], False),
    ("long", (1, 40, 40, 2), [1, 2], False),
    ("many columns", (2, 3, 39), [1], True),
]


def reductions(count: int) -> Iterator[tuple[str, tuple[int, ...], list[int], bool, bool]]:
    """Yield reductions as (name, shape, dim, keepdim, True for boards too)."""
    for index, (name, shape, dim, board) in enumerate(_NAMED):
        yield name, shape, dim, index % 2 == 0, board
    for index in range(count):
        values = Values("reduction", index)
        rank = values.integer(1, 6)
        shape = tuple(values.integer(1, 9 - rank) for _ in range(rank))
        dim = [d for d in range(rank) if values.integer(0, 1)] or [rank - 1]
        yield f"random {index}", shape, dim, bool(index % 2), False
