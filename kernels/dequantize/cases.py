# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::dequantize."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import activation, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

# The smallest float32 with all its bits, the largest denormal one, and others.
_AROUND_DENORMAL = (2.0**-126, 2.0**-126 - 2.0**-149, 1.7e-40, 2.0**-149)


def cases() -> Iterator[Case]:
    every_value = np.arange(-128, 128, dtype=np.int8)
    for scale in (1.0, 0.1, 0.007843137718737125, 1e-30, 3e38 / 300, *_AROUND_DENORMAL):
        for zero_point in (-128, 3, 127):
            board = scale in (0.1, *_AROUND_DENORMAL) or zero_point == 3
            yield _case(
                f"every value, {scale}, {zero_point}", every_value, scale, zero_point, board
            )
    for index in range(30):
        values = Values("dequantize", index)
        rank = values.integer(1, 6)
        shape = [values.integer(1, 9 - rank) for _ in range(rank)]
        yield _case(f"random {index}", values.int8(*shape), 0.37, values.zero_point(), False)

    values = Values("dequantize int16", 0)
    for scale in (0.1, 1e-30, 3e38 / 70000, *_AROUND_DENORMAL):
        board = scale in (0.1, *_AROUND_DENORMAL)
        yield _case(f"int16, {scale}", values.int16(5, 9), scale, 0, board)
        yield _case(f"int16 extreme, {scale}", values.extreme_int16(4), scale, 0, False)


def _case(name: str, given: AnyArray, scale: float, zero_point: int, board: bool) -> Case:
    attributes = {"scale": scale, "zero_point": zero_point}
    return Case(name, "pl::dequantize", {"input": given}, attributes=attributes, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::dequantize",
            {"input": activation(4), "scale": 0.1, "zero_point": 0},
            (floats(4, name="y"),),
        ),
        refused=[
            ({"scale": -0.1}, "not a positive number"),
            ({"input": activation(5)}, "5 inputs do not give 4"),
            ({"input": activation(4, dtype="int16"), "zero_point": 1}, "zero_point is 1"),
            ({"input": floats(4)}, "float32, not int8 or int16"),
        ],
    ),
]

MUTANTS = [
    Mutant("dequantize/dequantize_s8_f32_scalar.c", "*input++ - zero_point", "*input++"),
    Mutant("dequantize/dequantize_s16_f32_scalar.c", "(float)*input++", "(float)(int8_t)*input++"),
]


def layers() -> Iterator[Layer]:
    for size in (1024, 5, 1):
        arguments = {"input": activation(size), "scale": 0.1, "zero_point": -3}
        call = OpCall("pl::dequantize", arguments, (floats(size, name="y"),))
        yield Layer(f"dequantize {size}", call)
