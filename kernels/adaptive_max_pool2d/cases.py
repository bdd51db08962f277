# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::adaptive_max_pool2d."""

from collections.abc import Iterator

from kernels.testing.case import Case
from kernels.testing.values import Values

_NAMED: list[tuple[str, tuple[int, ...], tuple[int, int], bool]] = [
    ("one pixel", (1, 5, 6, 9), (1, 1), True),
    ("all pixels", (1, 4, 3, 5), (4, 3), True),
    ("even", (2, 6, 8, 4), (3, 4), True),
    ("uneven", (1, 7, 10, 6), (3, 4), True),
    ("larger output", (1, 3, 2, 5), (5, 7), True),
    ("1-d", (1, 1, 11, 3), (1, 4), False),
    ("one channel", (1, 9, 7, 1), (2, 3), False),
]


def cases() -> Iterator[Case]:
    for name, shape, size, board in _NAMED:
        yield _case(name, shape, size, board)
    for index in range(120):
        values = Values("adaptive", index)
        shape = tuple(values.integer(1, limit) for limit in (2, 12, 12, 10))
        size = (values.integer(1, 8), values.integer(1, 8))
        yield _case(f"random {index}", shape, size, False)


def _case(name: str, shape: tuple[int, ...], size: tuple[int, int], board: bool) -> Case:
    values = Values("adaptive_max_pool2d", name)
    given = values.choice([values.int8, values.int8, values.extreme_int8])(*shape)
    attributes = {"output_size": list(size)}
    inputs = {"input": given}
    return Case(name, "pl::adaptive_max_pool2d", inputs, attributes=attributes, board=board)
