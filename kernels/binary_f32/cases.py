# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 div, add, sub, mul, minimum, maximum and comparisons."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.broadcast_shapes import pairs
from kernels.testing.calls import activation, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_COMPARISONS = ("lt", "le", "eq", "ne")
_SPECIAL = np.array([0.0, 1.0, -2.5, 1e-38, 3e38, np.inf, -np.inf, np.nan], np.float32)


def cases() -> Iterator[Case]:
    for op in ("div", "add", "sub", "mul", "minimum", "maximum", *_COMPARISONS):
        yield _case(f"{op}, special", op, _SPECIAL[:, np.newaxis], _SPECIAL, True)
        for name, a_shape, b_shape, board in pairs(40):
            values = Values(op, name)
            a, b = values.float32(*a_shape), values.float32(*b_shape)
            if op in _COMPARISONS:  # some are equal
                a, b = np.round(a), np.round(b)
            yield _case(f"{op}, {name}", op, a, b, board)


def name_of(op: str) -> str:
    """Return the name of the op in a .pte."""
    return f"aten::{op}.{'Tensor_out' if op in _COMPARISONS else 'out'}"


def _case(name: str, op: str, a: AnyArray, b: AnyArray, board: bool) -> Case:
    # IEEE arithmetic, rounded once, is the same everywhere.
    attributes = {"alpha": 1} if op in ("add", "sub") else {}
    inputs = {"self": a, "other": b}
    tolerance = None if op in _COMPARISONS else 0.0
    return Case(name, name_of(op), inputs, {}, attributes, board, tolerance)


CALLS = [
    Valid(
        OpCall(
            "aten::div.out",
            {"self": floats(2, 3), "other": floats(3)},
            (floats(2, 3, name="y"),),
        ),
        refused=[({"other": activation(3)}, "other is int8, not float32")],
    ),
    Valid(
        OpCall(
            "aten::add.out",
            {"self": floats(2, 3), "other": floats(3), "alpha": 1},
            (floats(2, 3, name="y"),),
        ),
        refused=[({"alpha": 2}, "alpha is 2")],
    ),
    Valid(
        OpCall(
            "aten::sub.out",
            {"self": floats(2, 3), "other": floats(3), "alpha": 1},
            (floats(2, 3, name="y"),),
        ),
        refused=[({"alpha": 0.5}, "alpha is 0.5")],
    ),
    *(
        Valid(
            OpCall(
                name_of(op),
                {"self": floats(2, 3), "other": floats(3)},
                (activation(2, 3, dtype="bool", name="y"),),
            ),
            refused=[({"other": activation(3)}, "other is int8, not float32")],
        )
        for op in _COMPARISONS
    ),
    Valid(
        OpCall(
            "aten::mul.out",
            {"self": floats(2, 3), "other": floats(3)},
            (floats(2, 3, name="y"),),
        ),
        refused=[({"other": floats(4)}, "does not broadcast")],
    ),
    Valid(
        OpCall(
            "aten::minimum.out",
            {"self": floats(2, 3), "other": floats(3)},
            (floats(2, 3, name="y"),),
        ),
        refused=[({"other": floats(2)}, "does not broadcast")],
    ),
    Valid(
        OpCall(
            "aten::maximum.out",
            {"self": floats(2, 3), "other": floats(3)},
            (floats(2, 3, name="y"),),
        ),
        refused=[({"self": 2.0}, "'self' is float")],
    ),
]


def _row(dtype: str, b: str) -> str:
    """Return the code in elementwise.h that starts a row of b, in the loop for results
    of a dtype.
    """
    return f"""{dtype} *output = data->output;
  pl_broadcast_row row = {{0}};
  do {{
    const float *a = data->a + row.a;
    const float *b = data->b + {b};"""


MUTANTS = [
    Mutant("binary_f32/less_or_equal_f32_scalar.c", "a <= b", "!(a > b)"),
    Mutant("binary_f32/less_f32_scalar.c", "a < b", "a <= b"),
    Mutant("binary_f32/minimum_f32_scalar.c", "|| a != a", ""),
    *(
        Mutant("binary_f32/elementwise.h", _row(dtype, "row.b"), _row(dtype, "row.a"))
        for dtype in ("float", "uint8_t")
    ),
]


def layers() -> Iterator[Layer]:
    arguments = {"self": floats(1024), "other": floats(1024)}
    yield Layer("div_f32 1024", OpCall("aten::div.out", arguments, (floats(1024, name="y"),)))
