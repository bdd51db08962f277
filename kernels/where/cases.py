# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::where."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import activation, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_Shape = tuple[int, ...]

# name, shapes of mask, a and b, on boards too
_NAMED: list[tuple[str, _Shape, _Shape, _Shape, bool]] = [
    ("same shape", (2, 3, 5), (2, 3, 5), (2, 3, 5), True),
    ("b one value", (3, 17), (3, 17), (1,), True),
    ("a one value", (3, 17), (), (3, 17), True),
    ("two values", (30,), (1,), (1,), True),
    ("one value each", (1,), (1,), (1,), False),
    ("no dimensions", (), (), (), False),
    ("mask of a row", (3, 1), (3, 7), (3, 7), True),
    ("mask of a channel", (7,), (2, 3, 7), (1, 1, 7), False),
    ("mask of everything", (1, 1), (4, 5), (4, 5), False),
    ("all repeat", (2, 1, 1), (1, 3, 1), (1, 1, 4), True),
    ("rank 6", (2, 1, 2, 1, 2, 1), (1, 2, 1, 2, 1, 2), (2, 2, 2, 2, 2, 2), False),
]


def cases() -> Iterator[Case]:
    for name, mask, a, b, board in _NAMED:
        yield _case(name, Values("where", name), mask, a, b, board)
    for index in range(100):
        values = Values("where", index)
        full = [values.integer(1, 5) for _ in range(values.integer(1, 4))]
        shapes = [tuple(values.choice([1, size, size]) for size in full) for _ in range(3)]
        a = shapes[1][values.integer(0, len(full) - 1) * (index % 3 == 0) :]
        yield _case(f"random {index}", values, shapes[0], a, shapes[2], False)
    for name, mask, a, b, board in _NAMED[:4]:
        values = Values("where of bools", name)
        of_a, of_b, of_mask = (values.int8(*shape) > 0 for shape in (a, b, mask))
        yield _of(f"{name}, bools", of_mask, of_a, of_b, board)
    for name, mask, a, b, board in _NAMED:
        values = Values("where of int16", name)
        of_mask, of_a, of_b = values.int8(*mask) > 0, values.int16(*a), values.int16(*b)
        yield _of(f"{name}, int16", of_mask, of_a, of_b, board)
    for dtype in ("int32", "float32"):
        for name, mask, a, b, board in _NAMED:
            values = Values("where", dtype, name)
            of_a, of_b = (values.int32(2**31 - 1, *shape) for shape in (a, b))
            operands = of_a.astype(dtype), of_b.astype(dtype)
            yield _of(f"{name}, {dtype}", values.int8(*mask) > 0, *operands, board)


def _case(name: str, values: Values, mask: _Shape, a: _Shape, b: _Shape, board: bool) -> Case:
    return _of(name, values.int8(*mask) > 0, values.int8(*a), values.int8(*b), board)


def _of(name: str, mask: AnyArray, a: AnyArray, b: AnyArray, board: bool) -> Case:
    inputs = {"mask": np.asarray(mask), "a": np.asarray(a), "b": np.asarray(b)}
    return Case(name, "pl::where", inputs, board=board)


_ARGUMENTS = {
    "mask": activation(2, 3, dtype="bool"),
    "a": activation(3),
    "b": activation(2, 1),
}

CALLS = [
    Valid(
        OpCall("pl::where", _ARGUMENTS, (activation(2, 3, name="y"),)),
        refused=[
            ({"mask": activation(2, 3)}, "mask is int8, not bool"),
            ({"a": activation(2)}, "does not broadcast"),
            ({"b": floats(2, 1)}, "b is float32, not int8"),
            ({"b": activation(2, 1, dtype="int16")}, "b is int16, not int8"),
        ],
    ),
]

_SOURCE, _LOOP = "where/where_x8_scalar.c", "where/where_loop.h"
MUTANTS = [
    Mutant(_SOURCE, "*mask ? *a : *b", "*mask ? *b : *a"),
    Mutant("where/where_x16_scalar.c", "*mask ? *a : *b", "*mask ? *b : *a"),
    Mutant(_LOOP, "row->b -= dims->b_stride[d]", "row->b -= dims->a_stride[d]"),
    Mutant(_SOURCE, "mask += mask_step", "mask += 1"),
    Mutant("where/where_x32_scalar.c", "b += b_step", "b += 1"),
]


def layers() -> Iterator[Layer]:
    arguments = {
        "mask": activation(4096, dtype="bool"),
        "a": activation(4096),
        "b": activation(1),
    }
    yield Layer("where 4096", OpCall("pl::where", arguments, (activation(4096, name="y"),)))
