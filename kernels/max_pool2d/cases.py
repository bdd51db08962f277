# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::max_pool2d."""

from collections.abc import Iterator

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.pool_windows import windows
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for name, shape, window, board in windows(150, dilation=True):
        values = Values("max_pool2d", name)
        draw = values.int8 if board else values.choice([values.int8, values.extreme_int8])
        given = draw(*shape)
        yield Case(name, "pl::max_pool2d", {"input": given}, attributes=window, board=board)
    for name, shape, window, board in windows(20, dilation=True):
        given, name = Values("max_pool2d int16", name).int16(*shape), f"int16 {name}"
        yield Case(name, "pl::max_pool2d", {"input": given}, attributes=window, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::max_pool2d",
            {
                "input": activation(1, 4, 4, 2),
                "kernel": [2, 2],
                "stride": [2, 2],
                "padding": [0] * 4,
                "dilation": [1, 1],
                "output_size": [2, 2],
            },
            (activation(1, 2, 2, 2, name="y"),),
        ),
        refused=[
            ({"padding": [2, 0, 0, 0]}, "window 0 along the rows has no tap"),
            ({"output_size": [2, 3]}, "it should be"),
        ],
    ),
]

MUTANTS = [
    Mutant("max_pool2d/max_pool2d_s16_scalar.c", "row * row_step", "row * row_size"),
    Mutant("max_pool2d/max_pool2d_s16_scalar.c", "largest = INT16_MIN", "largest = 0"),
    Mutant("common/pool_s8.h", "for (; taps.begin < 0;", "for (; taps.begin < -1;"),
    Mutant("common/pool_s8.h", "at < size && ", ""),
    Mutant("common/pool_s8.h", "start + reach <= size", "start < size"),
    Mutant("common/pool_max_s8_scalar.c", "max1 = larger(max1, x[1])", "max1 = x[1]"),
]


def layers() -> Iterator[Layer]:
    for channels in (16, 3):
        arguments = {
            "input": activation(1, 16, 16, channels),
            "kernel": [2, 2],
            "stride": [2, 2],
            "padding": [0] * 4,
            "dilation": [1, 1],
            "output_size": [8, 8],
        }
        call = OpCall("pl::max_pool2d", arguments, (activation(1, 8, 8, channels, name="y"),))
        yield Layer(f"max_pool 2x2, 16x16x{channels}", call)
