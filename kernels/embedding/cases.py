# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::embedding."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation, constant
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_NAMED = [
    ("one row", (1, 7), (4,), True),
    ("one value", (9, 1), (5,), True),
    ("every row", (6, 16), (6,), True),
    ("one index", (5, 33), (1,), True),
    ("rank 3", (10, 3), (2, 3, 2), True),
]


def cases() -> Iterator[Case]:
    for name, table, indices, board in _NAMED:
        yield _case(name, table, indices, Values("embedding", name), board)
    for index in range(60):
        values = Values("embedding", index)
        table = (values.integer(1, 40), values.integer(1, 40))
        shape = tuple(values.integer(1, 5) for _ in range(values.integer(1, 3)))
        yield _case(f"random {index}", table, shape, values, False)
    for dtype in ("int16", "int32", "float32", "bool"):
        yield _case(f"of {dtype}", (6, 5), (2, 4), Values("embedding", dtype), True, dtype)


def _case(
    name: str,
    shape: tuple[int, int],
    indices: tuple[int, ...],
    values: Values,
    board: bool,
    dtype: str = "int8",
) -> Case:
    picked = [values.integer(0, shape[0] - 1) for _ in range(int(np.prod(indices)))]
    picked[0], picked[-1] = 0, shape[0] - 1
    inputs = {"indices": np.array(picked, np.int32).reshape(indices)}
    constants = {"table": values.int8(*shape).astype(dtype)}
    return Case(name, "pl::embedding", inputs, constants, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::embedding",
            {"table": constant(np.ones((4, 6))), "indices": activation(2, 3, dtype="int32")},
            (activation(2, 3, 6, name="y"),),
        ),
        refused=[
            ({"indices": activation(3, dtype="int32")}, "it should be \\[3, 6\\]"),
            ({"indices": activation(2, 3)}, "indices is int8, not int32"),
            ({"table": activation(4)}, "not 2 dimensions"),
        ],
    ),
]

_SOURCE = "embedding/embedding_x8_scalar.c"
MUTANTS = [
    Mutant(_SOURCE, "index >= dims->rows", "index >= dims->rows - 1"),
    Mutant(_SOURCE, "index < 0", "index <= 0"),
    Mutant(_SOURCE, "index * dims->width, dims->width", "index * dims->width, 1"),
]


def layers() -> Iterator[Layer]:
    arguments = {
        "table": activation(64, 32),
        "indices": constant(np.arange(0, 64, 4).reshape(1, 16), "int32"),
    }
    call = OpCall("pl::embedding", arguments, (activation(1, 16, 32, name="y"),))
    yield Layer("embedding, 16 rows of 32", call)
