# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 bmm."""

from collections.abc import Iterator

from kernels.testing.case import Case
from kernels.testing.values import Values

_NAMED = [(1, 1, 1, 1), (1, 3, 4, 5), (2, 3, 7, 2), (3, 1, 5, 4), (2, 4, 1, 3), (1, 2, 60, 3)]


def cases() -> Iterator[Case]:
    for index in range(40):
        values = Values("bmm", index)
        given = [values.integer(1, 3)] + [values.integer(1, 12) for _ in range(3)]
        batches, rows, depth, columns = _NAMED[index] if index < len(_NAMED) else given
        inputs = {
            "self": values.float32(batches, rows, depth),
            "mat2": values.float32(batches, depth, columns),
        }
        # Up to 60 products of order 1, each rounded and added with an error of 2^-24 of the sum.
        board = index < len(_NAMED)
        name = f"{index}: {batches}x{rows}x{depth}x{columns}"
        yield Case(name, "aten::bmm.out", inputs, board=board, tolerance=1e-5)
