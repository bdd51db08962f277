# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::adaptive_avg_pool2d."""

from collections.abc import Iterator

from kernels.testing.case import Case
from kernels.testing.pool_windows import adaptive_windows
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for name, shape, size, board in adaptive_windows(120):
        values = Values("adaptive_avg_pool2d", name)
        given = values.choice([values.int8, values.int8, values.extreme_int8])(*shape)
        attributes = {"output_size": size}
        inputs = {"input": given}
        yield Case(name, "pl::adaptive_avg_pool2d", inputs, attributes=attributes, board=board)
