# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::adaptive_max_pool2d."""

from collections.abc import Iterator

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.pool_windows import adaptive_windows
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for name, shape, size, board in adaptive_windows(120):
        values = Values("adaptive_max_pool2d", name)
        given = values.choice([values.int8, values.int8, values.extreme_int8])(*shape)
        attributes = {"output_size": size}
        inputs = {"input": given}
        yield Case(name, "pl::adaptive_max_pool2d", inputs, attributes=attributes, board=board)
        wide = values.choice([values.int16, values.extreme_int16])(*shape)
        yield Case(
            f"{name}, int16",
            "pl::adaptive_max_pool2d",
            {"input": wide},
            attributes=attributes,
            board=board,
        )


CALLS = [
    Valid(
        OpCall(
            "pl::adaptive_max_pool2d",
            {"input": activation(1, 5, 4, 2), "output_size": [2, 3]},
            (activation(1, 2, 3, 2, name="y"),),
        ),
        refused=[({"output_size": [0, 3]}, "at least 1")],
    ),
]

MUTANTS = [
    Mutant("common/pool_s16.h", "channels, INT16_MIN, 1", "channels, 0, 1"),
    Mutant("common/adaptive_pool_s8.h", "i * input / output;", "input / output * i;"),
]


def layers() -> Iterator[Layer]:
    yield Layer(
        "adaptive_max_pool 16x16x16 to 7x7",
        OpCall(
            "pl::adaptive_max_pool2d",
            {"input": activation(1, 16, 16, 16), "output_size": [7, 7]},
            (activation(1, 7, 7, 16, name="y"),),
        ),
    )
