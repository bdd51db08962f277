# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::flip."""

from collections.abc import Iterator

import kernels.flip.op  # noqa: F401  (defines the op)

from kernels.testing.case import Case
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for shape in ((1,), (7,), (3, 5), (2, 3, 4), (1, 2, 1, 6)):
        for dim in range(len(shape)):
            given = Values("flip", shape, dim).int8(*shape)
            name = f"{shape}, dimension {dim}"
            yield Case(name, "pl::flip", {"input": given}, {}, {"dim": dim}, board=len(shape) > 2)
