# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::integer_add and similar ops."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import INT32_MAX, INT32_MIN, AnyArray, OpCall
from kernels.testing.broadcast_shapes import pairs
from kernels.testing.calls import activation, constant, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_TO_INTEGERS = ("add", "sub", "mul", "minimum", "maximum", "divide", "modulo", "and")
_TO_MASKS = ("less", "equal")
_ENDS = np.array([INT32_MIN, -7, -2, -1, 0, 1, 2, 3, 7, INT32_MAX], np.int32)


def cases() -> Iterator[Case]:
    for name in (*_TO_INTEGERS, *_TO_MASKS):
        op = f"pl::integer_{name}"
        yield Case(f"{name}, ends", op, {"a": _ENDS[:, None], "b": _ENDS}, board=True)
        for what, a_shape, b_shape, board in pairs(10):
            values = Values(name, what)
            a, b = values.int32(9, *a_shape), values.int32(9, *b_shape)
            yield Case(f"{name}, {what}", op, {"a": a, "b": b}, board=board)
    for index, (what, a_shape, b_shape, board) in enumerate(pairs(10)):
        values = Values("place", what)
        rows, columns = values.integer(1, 9), values.integer(1, 9)
        a, b = values.int32(9, *a_shape), values.int32(9, *b_shape)
        if index % 2:
            a, b = np.abs(a) % rows, np.abs(b) % columns
        yield _place(what, a, b, rows, columns, board)
    yield _place("ends", _ENDS[:, None], _ENDS, 8, 4, True)
    yield _place("large", np.array([[46339], [46340]], np.int32), _ENDS, 46340, 46340, True)
    for index in range(40):
        values = Values("quantize", index)
        multiplier, shift = values.factor(values.choice([0.01, 1.0, 100.0]))
        attributes = {
            "output_zero_point": values.zero_point(),
            "multiplier": multiplier,
            "shift": shift,
            "bits": 8,
        }
        shape = (values.integer(1, 5), values.integer(1, 9))
        inputs = {"input": values.int32(values.choice([10, 1000, INT32_MAX]), *shape)}
        name = f"quantize {index}"
        yield Case(name, "pl::integer_quantize", inputs, {}, attributes, board=index < 4)
        wide = {**attributes, "output_zero_point": 0, "bits": 16}
        yield Case(f"{name}, int16", "pl::integer_quantize", inputs, {}, wide, board=index < 4)
        yield Case(f"to float {index}", "pl::integer_to_float", inputs, board=index < 4)
    yield Case("to float, ends", "pl::integer_to_float", {"input": _ENDS}, board=True)
    saturates = {"multiplier": 2**30, "shift": 20}
    for bits, zero_point in ((8, 3), (16, 0)):
        attributes = {"output_zero_point": zero_point, **saturates, "bits": bits}
        name = f"quantize, ends, {bits}"
        yield Case(name, "pl::integer_quantize", {"input": _ENDS}, {}, attributes)


def _place(name: str, a: AnyArray, b: AnyArray, rows: int, columns: int, board: bool) -> Case:
    attributes = {"rows": rows, "columns": columns}
    inputs = {"a": a.astype(np.int32), "b": b.astype(np.int32)}
    return Case(f"place, {name}", "pl::integer_place", inputs, {}, attributes, board)


_PAIR = {"a": activation(2, 3, dtype="int32"), "b": activation(3, dtype="int32")}
_FACTOR = {"output_zero_point": 0, "multiplier": 2**30, "shift": -5}
_QUANTIZE = {"input": activation(2, 3, dtype="int32"), **_FACTOR, "bits": 8}

CALLS = [
    *(
        Valid(
            OpCall(f"pl::integer_{name}", _PAIR, (activation(2, 3, dtype=dtype, name="y"),)),
            refused=[
                ({"b": activation(2, dtype="int32")}, "does not broadcast"),
                ({"a": constant([1, 2, 3])}, "a is int8, not int32"),
            ],
        )
        for names, dtype in ((_TO_INTEGERS, "int32"), (_TO_MASKS, "bool"))
        for name in names
    ),
    Valid(
        OpCall(
            "pl::integer_place",
            {**_PAIR, "rows": 5, "columns": 7},
            (activation(2, 3, dtype="int32", name="y"),),
        ),
        refused=[
            ({"rows": 0}, "rows is 0"),
            ({"columns": 2**30}, "too many places"),
        ],
    ),
    Valid(
        OpCall(
            "pl::integer_to_float",
            {"input": activation(2, 3, dtype="int32")},
            (floats(2, 3, name="y"),),
        ),
        refused=[({"input": activation(4, dtype="int32")}, "4 inputs do not give 6")],
    ),
    Valid(
        OpCall("pl::integer_quantize", _QUANTIZE, (activation(2, 3, name="y"),)),
        refused=[
            ({"input": activation(4, dtype="int32")}, "4 inputs do not give 6"),
            ({"output_zero_point": 200}, "output_zero_point is 200"),
            ({"bits": 16}, "int8, not int16"),
            ({"bits": 4}, "bits is 4"),
        ],
    ),
]

MUTANTS = [
    Mutant("integer/place_s32_scalar.c", "r < rows && ", ""),
    Mutant("integer/place_s32_scalar.c", "r * columns + c", "r + c"),
    Mutant("integer/elementwise.h", "b == -1 ? 0 : a % b", "a % b"),
    Mutant("integer/divide_s32_scalar.c", "(rest < 0) != (b < 0)", "rest < 0"),
    Mutant("integer/modulo_s32_scalar.c", "rest + b", "rest - b"),
    Mutant("integer/modulo_s32_scalar.c", "b == 0", "b == 1"),
    Mutant("integer/minimum_s32_scalar.c", "a < b", "a > b"),
    Mutant("integer/and_s32_scalar.c", "a & b", "a | b"),
    Mutant("integer/less_s32_scalar.c", "a < b", "a <= b"),
    Mutant("integer/quantize_s32_s16_scalar.c", "INT16_MIN", "INT8_MIN"),
    Mutant("integer/quantize_s32_scalar.c", "i < size", "i < size - 1"),
]


def layers() -> Iterator[Layer]:
    pair = {name: activation(1024, dtype="int32") for name in ("a", "b")}
    result = (activation(1024, dtype="int32", name="y"),)
    for name in ("add", "and"):
        yield Layer(f"integer_{name} 1024", OpCall(f"pl::integer_{name}", pair, result))
