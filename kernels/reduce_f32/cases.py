# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 sum, amax and amin."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import activation, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
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
    # Bound for a sum of n values of order 1, in any order: n * 2^-24 * n; here n = 1600.
    tolerance = 2e-4 if op == "sum" else 0.0
    inputs = {"self": given}
    return Case(name, _NAMES[op], inputs, {}, attributes, board, tolerance)


CALLS = [
    Valid(
        OpCall(
            "aten::sum.IntList_out",
            {"self": floats(2, 8), "dim": [1], "keepdim": False},
            (floats(2, name="y"),),
        ),
        refused=[({"dim": [2]}, "does not fit 2 dimensions")],
    ),
    Valid(
        OpCall(
            "aten::amax.out",
            {"self": floats(2, 8), "dim": [1], "keepdim": False},
            (floats(2, name="y"),),
        ),
        refused=[({"keepdim": True}, "it should be \\[2, 1\\]")],
    ),
    Valid(
        OpCall(
            "aten::amin.out",
            {"self": floats(2, 8), "dim": [1], "keepdim": False},
            (floats(2, name="y"),),
        ),
        refused=[({"self": activation(2, 8)}, "self is int8, not float32")],
    ),
]

MUTANTS = [
    Mutant("reduce_f32/amax_f32_scalar.c", "|| result != result", ""),
    Mutant("reduce_f32/fold.h", "i * dims->reduced_stride[0]", "0"),
]


def layers() -> Iterator[Layer]:
    arguments = {"self": floats(16, 64), "dim": [1], "keepdim": False}
    call = OpCall("aten::sum.IntList_out", arguments, (floats(16, name="y"),))
    yield Layer("sum_f32 16x64", call)
