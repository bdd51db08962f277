# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 sum, amax and amin."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray
from kernels.testing.case import Case
from kernels.testing.reductions import reductions
from kernels.testing.values import Values

_NAMES = {"sum": "aten::sum.IntList_out", "amax": "aten::amax.out", "amin": "aten::amin.out"}


def cases() -> Iterator[Case]:
    for op in _NAMES:
        for value in (np.nan, np.inf, -np.inf):
            given = np.array([[1.0, value, -1.0], [2.0, 3.0, 4.0]], np.float32)
            yield _case(f"{op}, {value}", op, given, {"dim": [1], "keepdim": False}, True)
        yield _case(f"{op}, no dim", op, Values(op).float32(3, 4), {"dim": [], "keepdim": False})
        for name, shape, dim, keepdim, board in reductions(60):
            given = Values(op, name).float32(*shape)
            # Negative dimensions count from the end.
            dims = [d - len(shape) for d in dim] if keepdim else dim
            yield _case(f"{op}, {name}", op, given, {"dim": dims, "keepdim": keepdim}, board)


def _case(
    name: str, op: str, given: AnyArray, attributes: dict[str, Any], board: bool = False
) -> Case:
    # A sum of n values of order 1, in any order, is off by n * 2^-24 * n at most; 1600 here.
    tolerance = 2e-4 if op == "sum" else 0.0
    inputs = {"self": given}
    return Case(name, _NAMES[op], inputs, {}, attributes, board, tolerance)
