# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::avg_pool2d."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.pool_windows import windows
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for name, shape, window, board in windows(250, dilation=False):
        values = Values("avg_pool2d", name)
        given = values.choice([values.int8, values.int8, values.extreme_int8])(*shape)
        if name == "every tie":
            pairs = np.arange(-128, 128)[:, np.newaxis] + [0, 1, 0, 1]
            given = np.clip(pairs, -128, 127).astype(np.int8).reshape(shape)
        attributes = {
            **window,
            "count_include_pad": values.choice([True, False]),
            "divisor_override": values.choice([0, 0, 0, 1, 2, 3, 7, 100]),
            "zero_point": values.zero_point(),
        }
        if name == "every tie":
            attributes["divisor_override"] = 0
        yield Case(name, "pl::avg_pool2d", {"input": given}, attributes=attributes, board=board)
    for name, shape, window, board in windows(30, dilation=False):
        values = Values("avg_pool2d int16", name)
        given = values.choice([values.int16, values.extreme_int16])(*shape)
        attributes = {
            **window,
            "count_include_pad": values.choice([True, False]),
            "divisor_override": values.choice([0, 0, 1, 3]),
            "zero_point": 0,
        }
        name = f"int16 {name}"
        yield Case(name, "pl::avg_pool2d", {"input": given}, attributes=attributes, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::avg_pool2d",
            {
                "input": activation(1, 4, 4, 2),
                "kernel": [2, 2],
                "stride": [2, 2],
                "padding": [0] * 4,
                "output_size": [2, 2],
                "count_include_pad": True,
                "divisor_override": 0,
                "zero_point": 0,
            },
            (activation(1, 2, 2, 2, name="y"),),
        ),
        refused=[
            ({"kernel": [0, 2]}, "kernel is .* at least 1"),
            ({"divisor_override": 2**24}, "int32 overflows"),
            ({"zero_point": -129}, "zero_point is -129"),
        ],
    ),
]

MUTANTS = [
    Mutant("common/pool_s16.h", "sum < 0 ? sum - half : sum + half", "sum + half"),
    Mutant("avg_pool2d/avg_pool2d_s16_scalar.c", "height * width : y.count", "y.count : y.count"),
    Mutant("common/pool_divide_s8.h", "(by / 2 ^ sign) - sign", "by / 2"),
    Mutant("common/pool_by_4_s8.h", "of.output[last] =", "of.output[1] ="),
    Mutant("common/pool_by_4_s8.h", "next < last ? next : last", "next"),
    Mutant("avg_pool2d/avg_pool2d_s8.c", "height * width : taps", "taps : taps"),
    Mutant("avg_pool2d/avg_pool2d_s8.c", "(divisor - taps)", "0"),
]


def layers() -> Iterator[Layer]:
    yield _layer((16, 16, 16), 2, 2, 0)
    yield _layer((12, 12, 24), 3, 2, 1)
    yield _layer((12, 12, 7), 3, 1, 1)
    yield _layer((12, 12, 12), 2, 2, 0)
    yield _layer((16, 16, 3), 2, 2, 0)


def _layer(image: tuple[int, int, int], kernel: int, stride: int, padding: int) -> Layer:
    h, w, c = image
    oh, ow = ((size + 2 * padding - kernel) // stride + 1 for size in (h, w))
    arguments = {
        "input": activation(1, h, w, c),
        "kernel": [kernel, kernel],
        "stride": [stride, stride],
        "padding": [padding] * 4,
        "output_size": [oh, ow],
        "count_include_pad": True,
        "divisor_override": 0,
        "zero_point": -128,
    }
    call = OpCall("pl::avg_pool2d", arguments, (activation(1, oh, ow, c, name="y"),))
    strided = f" s{stride}" if stride != kernel else ""
    return Layer(f"avg_pool {kernel}x{kernel}{strided}, {h}x{w}x{c}", call)
