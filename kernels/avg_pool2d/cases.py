# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::avg_pool2d."""

from collections.abc import Iterator

import numpy as np

from kernels.testing.case import Case
from kernels.testing.pool_windows import windows
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for name, shape, window, board in windows(250, dilation=False):
        values = Values("avg_pool2d", name)
        given = values.choice([values.int8, values.int8, values.extreme_int8])(*shape)
        if name == "every tie":
            pairs = np.arange(-128, 128)[:, np.newaxis] + [0, 1, 0, 1]
            given = np.clip(pairs, -128, 127).astype(np.int8).reshape(shape)
        attributes = {
            **window,
            "count_include_pad": values.choice([True, False]),
            "divisor_override": values.choice([0, 0, 0, 1, 2, 3, 7, 100]),
            "zero_point": values.zero_point(),
        }
        if name == "every tie":
            attributes["divisor_override"] = 0
        yield Case(name, "pl::avg_pool2d", {"input": given}, attributes=attributes, board=board)
