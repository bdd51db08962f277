# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::max_pool2d."""

from collections.abc import Iterator

from kernels.testing.case import Case
from kernels.testing.pool_windows import windows
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for name, shape, window, board in windows(150, dilation=True):
        values = Values("max_pool2d", name)
        draw = values.int8 if board else values.choice([values.int8, values.extreme_int8])
        given = draw(*shape)
        yield Case(name, "pl::max_pool2d", {"input": given}, attributes=window, board=board)
