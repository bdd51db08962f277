# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::scatter, scatter_sum and scatter_sum_float."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import activation, constant, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_ANY = ("int8", "int16", "int32", "float32", "bool")

# name, rows, width, indices, on boards too
_NAMED: list[tuple[str, int, int, list[int], bool]] = [
    ("one row", 1, 7, [0, 0, 0], True),
    ("one value", 9, 1, [8, 0, 3], True),
    ("one index", 5, 33, [4], True),
    ("some twice", 4, 3, [1, 3, 1, 0, 3], True),
    ("each once", 3, 4, [2, 0, 1], False),
    ("many", 2, 2, [1] * 400, False),
]


def cases() -> Iterator[Case]:
    for name, rows, width, indices, board in _NAMED:
        for dtype in _ANY:
            values = Values("scatter", name, dtype)
            yield _scatter(f"{name}, {dtype}", values, rows, width, indices, board, dtype)
        for kind, zero_point in Values("sum", name).zero_points():
            values = Values("scatter_sum", name, kind)
            points = zero_point(), zero_point()
            yield from _sum(f"{name}, {kind}", values, rows, width, indices, board, points)
        values = Values("scatter_sum_float", name)
        inputs = {"values": values.float32(len(indices), width), "indices": _int32(indices)}
        # Sums in the order of the reference.
        attributes = {"rows": rows}
        yield Case(name, "pl::scatter_sum_float", inputs, {}, attributes, board, 0.0)
    for index in range(60):
        values = Values("scatter", index)
        rows, width = values.integer(1, 20), values.integer(1, 20)
        indices = [values.integer(0, rows - 1) for _ in range(values.integer(1, 30))]
        yield _scatter(f"random {index}", values, rows, width, indices, False, "int8")
        points = values.zero_point(), values.zero_point()
        yield from _sum(f"random {index}", values, rows, width, indices, False, points)


def _scatter(
    name: str,
    values: Values,
    rows: int,
    width: int,
    indices: list[int],
    board: bool,
    dtype: str,
) -> Case:
    inputs = {
        "base": values.int8(rows, width).astype(dtype),
        "indices": _int32(indices),
        "values": values.int8(len(indices), width).astype(dtype),
    }
    return Case(name, "pl::scatter", inputs, board=board)


def _sum(
    name: str,
    values: Values,
    rows: int,
    width: int,
    indices: list[int],
    board: bool,
    zero_points: tuple[int, int],
) -> Iterator[Case]:
    multiplier, shift = values.factor(1.0 / max(len(indices) // rows, 1))
    attributes = {
        "rows": rows,
        "input_zero_point": zero_points[0],
        "output_zero_point": zero_points[1],
        "multiplier": multiplier,
        "shift": shift,
    }
    inputs = {"values": values.int8(len(indices), width), "indices": _int32(indices)}
    yield Case(f"sum, {name}", "pl::scatter_sum", inputs, {}, attributes, board)
    inputs = {"values": values.int16(len(indices), width), "indices": _int32(indices)}
    attributes = {**attributes, "input_zero_point": 0, "output_zero_point": 0}
    yield Case(f"sum, {name}, int16", "pl::scatter_sum", inputs, {}, attributes, board)


def _int32(indices: list[int]) -> AnyArray:
    return np.array(indices, np.int32)


_INDICES = activation(3, dtype="int32")
_FACTOR = {"input_zero_point": 0, "output_zero_point": 0, "multiplier": 2**30, "shift": -2}

CALLS = [
    Valid(
        OpCall(
            "pl::scatter",
            {"base": activation(4, 6), "indices": _INDICES, "values": activation(3, 6)},
            (activation(4, 6, name="y"),),
        ),
        refused=[
            ({"values": activation(2, 6)}, "it should be \\[3, 6\\]"),
            ({"indices": activation(3)}, "indices is int8, not int32"),
            ({"base": activation(5, 6)}, "base has shape \\[5, 6\\]"),
        ],
    ),
    Valid(
        OpCall(
            "pl::scatter_sum",
            {"values": activation(3, 6), "indices": _INDICES, "rows": 4, **_FACTOR},
            (activation(4, 6, name="y"),),
        ),
        refused=[
            ({"rows": 5}, "rows is 5, the output has 4"),
            ({"values": activation(3, 5)}, "it should be \\[3, 6\\]"),
            ({"values": floats(3, 6)}, "values is float32, not int8 or int16"),
        ],
    ),
    Valid(
        OpCall(
            "pl::scatter_sum_float",
            {"values": floats(3, 6), "indices": _INDICES, "rows": 4},
            (floats(4, 6, name="y"),),
        ),
        refused=[
            ({"rows": 5}, "rows is 5, the output has 4"),
            ({"values": activation(3, 6)}, "values is int8, not float32"),
        ],
    ),
]

MUTANTS = [
    Mutant("scatter/scatter_sum_f32_scalar.c", "sum[k] +=", "sum[k] ="),
    Mutant("scatter/scatter_x8_scalar.c", "index >= dims->rows", "index >= dims->rows - 1"),
    Mutant("scatter/scatter_x8_scalar.c", "index < 0", "index <= 0"),
    Mutant("scatter/scatter_x8_scalar.c", "values += width", "values += 1"),
    Mutant("scatter/scatter_sum.h", "sum[k] +=", "sum[k] ="),
    Mutant("scatter/scatter_sum.h", " - p.input_zero_point", ""),
    Mutant("scatter/scatter_sum_s16_scalar.c", "INT16_MIN", "0"),
]


def layers() -> Iterator[Layer]:
    arguments = {
        "values": activation(16, 32),
        "indices": constant(np.arange(0, 64, 4), "int32"),
        "rows": 64,
        **_FACTOR,
    }
    call = OpCall("pl::scatter_sum", arguments, (activation(64, 32, name="y"),))
    yield Layer("scatter_sum, 16 rows of 32", call)
