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
    Mutant("max_pool2d/max_pool2d_s16_scalar.c", "params->dilation_h * row_size", "row_size"),
    Mutant("common/pool_s16.h", "channels, INT16_MIN, 1", "channels, 0, 1"),
    Mutant("common/pool_s16.h", "fold(value2, x[2])", "fold(value2, x[1])"),
    Mutant("common/pool_s8.h", "for (; taps.begin < 0;", "for (; taps.begin < -1;"),
    Mutant("common/pool_s8.h", "at < size && ", ""),
    Mutant("common/pool_s8.h", "start + reach <= size", "start < size"),
    Mutant("common/pool_max_s8_scalar.c", "max.of1 = larger(max.of1, x[1])", "max.of1 = x[1]"),
    Mutant("common/pool_max_s8_scalar.c", "max, first + step, window", "max, first, window"),
    Mutant("common/pool_max_s8_scalar.c", "; columns = window->columns)", "; --columns)"),
]


def layers() -> Iterator[Layer]:
    yield _layer((16, 16, 16), 2, 2, 0)
    yield _layer((16, 16, 3), 2, 2, 0)
    yield _layer((12, 12, 64), 3, 2, 1)
    yield _layer((12, 12, 5), 3, 1, 1)
    yield _layer((12, 12, 24), 2, 2, 0)


def _layer(image: tuple[int, int, int], kernel: int, stride: int, padding: int) -> Layer:
    h, w, c = image
    oh, ow = ((size + 2 * padding - kernel) // stride + 1 for size in (h, w))
    arguments = {
        "input": activation(1, h, w, c),
        "kernel": [kernel, kernel],
        "stride": [stride, stride],
        "padding": [padding] * 4,
        "dilation": [1, 1],
        "output_size": [oh, ow],
    }
    call = OpCall("pl::max_pool2d", arguments, (activation(1, oh, ow, c, name="y"),))
    strided = f" s{stride}" if stride != kernel else ""
    return Layer(f"max_pool {kernel}x{kernel}{strided}, {h}x{w}x{c}", call)
