# SPDX-License-Identifier: Apache-2.0
"""The smallest case of each dialect op, together small enough for a board with 16 KB of RAM."""

import math
from collections.abc import Iterator

from tests.ops import convolution, elementwise, integers, movement, pooling, reduction
from tests.ops.bundle import as_model
from tests.ops.case import Case

_TABLES = (convolution, elementwise, integers, pooling, reduction, movement)


def cases() -> Iterator[Case]:
    smallest: dict[str, Case] = {}
    for table in _TABLES:
        for case in table.cases():
            if len(case.ops) == 1:
                (op,) = case.ops
                if op not in smallest or _elements(case) < _elements(smallest[op]):
                    smallest[op] = case
    yield from smallest.values()


def _elements(case: Case) -> int:
    return sum(math.prod(spec.shape) for spec in case.inputs)


factory, calibration, test_inputs = as_model(cases)
