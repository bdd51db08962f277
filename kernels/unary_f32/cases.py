# SPDX-License-Identifier: Apache-2.0
"""Cases of functions of one float32."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

# Rounding and signs are exact. All others are within 2^-22 of the result, if it is not subnormal.
#
# The error comes from series cut off below 2^-26 and from some roundings. torch's functions are
# within 2^-22, too.
_EXACT = ("abs", "neg", "sign", "floor", "ceil", "trunc", "round")
_CLOSE = {
    "sqrt": 1e6,
    "rsqrt": 1e6,
    "reciprocal": 1e3,
    "exp": 80.0,
    "expm1": 20.0,
    "sigmoid": 80.0,
    "tanh": 8.0,
    "erf": 4.0,
    "log": 1e6,
    "log1p": 10.0,
    "sin": 1e3,
    "cos": 1e3,
    "atan": 20.0,
}
_SPECIAL = np.array(
    [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-42, 3e38, -3e38, np.inf, -np.inf, np.nan]
    + [8388609.0, -4194304.5, 1e-30, 88.8, -104.0, -103.5, -1.0, 1.0, 3.9999998, 0.41421357],
    np.float32,
)

# Near multiples of a quarter turn, where few bits of the angle are left: of all floats the first
# comes nearest to one.
_CIRCLE = np.array([16367173 * 2.0**72, np.pi, -2 * np.pi, np.pi / 2, 355.0, -710.0], np.float32)


def cases() -> Iterator[Case]:
    for name in ("sin", "cos"):
        yield Case(
            f"{name}, quarters",
            f"aten::{name}.out",
            {"self": _CIRCLE},
            board=True,
            tolerance=5e-7,
            floor=2.0**-126,
        )
    for name in (*_EXACT, *_CLOSE):
        reach = _CLOSE.get(name, 100.0)
        tolerance = 0.0 if name in _EXACT else 5e-7
        values = Values(name)
        for what, given in (
            ("special", _SPECIAL),
            ("near 0", values.float32(200)),
            ("wide", values.float32(200) * np.float32(reach / 4)),
            ("everywhere", np.linspace(-reach, reach, 2001, dtype=np.float32)),
            ("rank 3", values.float32(2, 3, 5)),
        ):
            board = what in ("special", "near 0")
            # Near a multiple of pi, only the absolute error of sine and cosine is this small.
            smallest = 2.0**-126 if name not in ("sin", "cos") else 0.1
            yield Case(
                f"{name}, {what}",
                f"aten::{name}.out",
                {"self": given},
                board=board,
                tolerance=tolerance,
                floor=smallest,
            )


CALLS = [
    Valid(
        OpCall(f"aten::{name}.out", {"self": floats(4)}, (floats(4, name="y"),)),
        refused=[
            ({"self": floats(5)}, "5 inputs do not give 4 outputs"),
            ({"self": activation(4)}, "self is int8, not float32"),
        ],
    )
    for name in (*_EXACT, *_CLOSE)
]

MUTANTS = [
    Mutant("unary_f32/circle_f32_scalar.c", "parts.mantissa * high + low", "parts.mantissa * high"),
    Mutant("unary_f32/circle_f32_scalar.c", "turns = 0 - turns", "turns = turns"),
    Mutant("unary_f32/circle_f32_scalar.c", "quarter & 2 ? -value", "quarter & 3 ? -value"),
    Mutant("unary_f32/exponentials_f32_scalar.c", "1.0f / 24", "1.0f / 25"),
    Mutant("unary_f32/exponentials_f32_scalar.c", "n - half", "half"),
    Mutant("unary_f32/exponentials_f32_scalar.c", "6.64379319f", "6.65f"),
    Mutant("unary_f32/logarithms_f32_scalar.c", "(float)n * LOG_2_LOW", "0.0f"),
    Mutant("unary_f32/rounding_f32_scalar.c", "t < x ? t + 1.0f", "t <= x ? t + 1.0f"),
    Mutant("unary_f32/signs_f32_scalar.c", "x < 0.0f ? -1.0f", "x < -1.0f ? -1.0f"),
]


def layers() -> Iterator[Layer]:
    for name in ("sigmoid", "log", "sin"):
        call = OpCall(f"aten::{name}.out", {"self": floats(1024)}, (floats(1024, name="y"),))
        yield Layer(f"{name}_f32 1024", call)
