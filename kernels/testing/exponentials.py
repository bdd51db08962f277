# SPDX-License-Identifier: Apache-2.0
"""Shapes and tables of softmax cases."""

import math
from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import AnyArray
from kernels.testing.values import Values

_NAMED: list[tuple[str, tuple[int, ...], int, bool]] = [
    ("row", (1, 12), 1, True),
    ("rows", (4, 10), 1, True),
    ("one value", (3, 1), 1, True),
    ("two values", (200, 2), 1, False),
    ("vector", (33,), 0, False),
    ("first dimension", (5, 4), 0, True),
    ("middle", (2, 7, 3), 1, True),
    ("rank 6", (2, 1, 2, 5, 2, 2), 3, False),
    ("long", (1, 1000), 1, False),
    ("two thousand", (1, 2049), 1, False),
    ("many rows", (5, 33), 1, True),
    ("many columns", (3, 19, 4), 1, True),
]


def rows(op: str, count: int) -> Iterator[tuple[str, AnyArray, int, bool, Values]]:
    """Yield rows as (name, input, dim, True for boards too, more values)."""
    for name, shape, dim, board in _NAMED:
        values = Values(op, name)
        yield name, values.int8(*shape), dim, board, values
    for value in (-128, 0, 127):
        given = np.full((2, 9), value, np.int8)
        yield f"all {value}", given, 1, value == 0, Values(op, "all", value)
    for index in range(4):
        values = Values(op, "extreme", index)
        yield f"extreme {index}", values.extreme_int8(3, 20), 1, index == 0, values
    for index in range(100):
        values = Values(op, index)
        shape = tuple(values.integer(1, 8) for _ in range(values.integer(1, 4)))
        yield (
            f"random {index}",
            values.int8(*shape),
            values.integer(0, len(shape) - 1),
            False,
            values,
        )


def wide_exp_table(scale: float) -> AnyArray:
    """Return the table for int16 values, with 30 fraction bits.

    It holds exp(-256 * i * scale), then exp(-j * scale).
    """
    steps = (256, 1)
    entries = [round(math.exp(-d * s * scale) * 2**30) for s in steps for d in range(256)]
    return np.array(entries, np.int32)


def exp_table(scale: float, size: int, steps: int = 256) -> tuple[AnyArray, int]:
    """Return exp(-d * scale) and its number of fraction bits.

    The bits are limited by sums over `size` values, and by `steps` times an entry.
    """
    bits = 31 - math.ceil(math.log2(max(size, steps)))
    entries = [round(math.exp(-d * scale) * 2**bits) for d in range(256)]
    return np.array(entries, np.int32), bits
