# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 pow with a number as exponent."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    special = np.array(
        [0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan, 1e-30, 1e-42, 3e38, -4.0, 1 + 2**-23],
        np.float32,
    )
    spread = np.exp2(np.arange(-149, 128, 1.7)).astype(np.float32)
    for exponent in (2, 0.5, -0.5, 3, -1, -2, 0, 1, 4, 5, -7, 1.7, -0.3, 0.01, 15.9, 1e-30):
        values = Values("pow", str(exponent))
        single = float(np.float32(exponent))  # torch computes with this value
        for name, given in (
            (f"random, {exponent}", values.float32(3, 17)),
            (f"positive, {exponent}", np.abs(values.float32(40))),
            (f"special, {exponent}", special),
            (f"all magnitudes, {exponent}", spread),
        ):
            inputs, attributes = {"self": given}, {"exponent": single}
            board = exponent in (2, 0.5, -1, 1.7)
            # The logarithm is exact to 2^-29. Times an exponent up to 16 this is 2^-25. The
            # exponential is exact to 2^-26. Alternatively there are five float32 roundings. All
            # bounds are relative, for normal numbers.
            yield Case(
                name, "aten::pow.Tensor_Scalar_out", inputs, {}, attributes, board, 5e-7, 2.0**-126
            )


CALLS = [
    Valid(
        OpCall(
            "aten::pow.Tensor_Scalar_out",
            {"self": floats(4), "exponent": 2},
            (floats(4, name="y"),),
        ),
        refused=[
            ({"exponent": 40}, "exponents up to 16"),
            ({"exponent": activation(1)}, "'exponent' is Value"),
        ],
    ),
]

MUTANTS = [
    Mutant("pow/pow_f32_scalar.c", "square >> 63", "square >> 62"),
    Mutant("pow/pow_whole_f32_scalar.c", "int32_t factor = 1", "int32_t factor = 0"),
]


def layers() -> Iterator[Layer]:
    arguments = {"self": floats(1024), "exponent": 3}
    call = OpCall("aten::pow.Tensor_Scalar_out", arguments, (floats(1024, name="y"),))
    yield Layer("pow_f32 1024, cubes", call)
