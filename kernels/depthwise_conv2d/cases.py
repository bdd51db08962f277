# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::depthwise_conv2d."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import (
    AFTER_RELU,
    STAGE,
    WINDOW,
    activation,
    constant,
    per_channel,
    weights,
)
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.convolutions import Options, convolution, random_window
from kernels.testing.values import Values

# name, input NHWC, kernel HW and channel multiplier, and what differs from the defaults
_NAMED: list[tuple[str, tuple[int, ...], tuple[int, int, int], dict[str, Any]]] = [
    ("3x3", (1, 5, 6, 8), (3, 3, 1), {"board": True}),
    ("3x3 padded", (1, 4, 5, 8), (3, 3, 1), {"padding": [1] * 4, "board": True}),
    ("3x3 stride 2, same", (1, 7, 8, 5), (3, 3, 1), {"padding": [1, 1, 0, 1], "stride": [2, 2]}),
    ("odd per_channel", (1, 4, 4, 7), (3, 3, 1), {"padding": [1] * 4, "board": True}),
    ("three per_channel", (2, 4, 4, 3), (2, 3, 1), {}),
    ("uneven padding", (1, 4, 5, 4), (3, 2, 1), {"padding": [2, 0, 0, 3], "board": True}),
    ("padding wider than the kernel", (1, 2, 2, 5), (2, 2, 1), {"padding": [3] * 4}),
    ("dilation", (1, 9, 8, 6), (3, 3, 1), {"dilation": [2, 3], "board": True}),
    ("dilation and padding", (1, 6, 6, 4), (3, 3, 1), {"dilation": [2, 2], "padding": [2] * 4}),
    ("1x1", (1, 3, 4, 9), (1, 1, 1), {}),
    ("1-d", (1, 1, 12, 8), (1, 5, 1), {"padding": [0, 0, 2, 2], "board": True}),
    ("whole image", (1, 5, 4, 9), (5, 4, 1), {}),
    ("one pixel", (1, 1, 1, 6), (3, 3, 1), {"padding": [1] * 4}),
    ("one channel", (1, 6, 6, 1), (3, 3, 1), {"padding": [1] * 4, "board": True}),
    ("one channel, multiplier 8", (1, 6, 6, 1), (3, 3, 8), {"padding": [1] * 4}),
    ("multiplier 2", (1, 5, 5, 6), (3, 3, 2), {"padding": [1] * 4, "board": True}),
    ("multiplier 5", (2, 4, 4, 3), (2, 2, 5), {"stride": [2, 1]}),
    ("1x1, multiplier 3", (1, 3, 3, 4), (1, 1, 3), {}),
    ("many per_channel", (1, 3, 3, 67), (3, 3, 1), {"padding": [1] * 4}),
]


def cases() -> Iterator[Case]:
    for name, shape, kernel, options in _NAMED:
        yield _case(name, shape, kernel, options, Values("depthwise", name))
    for index in range(200):
        values = Values("depthwise", index)
        (kh, kw), size, options = random_window(values)
        shape = (values.choice([1, 1, 2]), *size, values.integer(1, 18))
        kernel = (kh, kw, values.choice([1, 1, 1, 2]))
        yield _case(f"random {index}", shape, kernel, options, values)
    for index in range(6):
        values = Values("depthwise extreme", index)
        given = {"input": values.extreme_int8(1, 4, 4, 6), "weight": values.extreme_int8(3, 3, 6)}
        options = {"padding": [1] * 4, "board": index < 2}
        yield _case(f"extreme products {index}", (1, 4, 4, 6), (3, 3, 1), options, values, given)


def _case(
    name: str,
    shape: tuple[int, ...],
    kernel: tuple[int, int, int],
    options: Options,
    values: Values,
    given: Mapping[str, AnyArray] | None = None,
) -> Case:
    kh, kw, multiplier = kernel
    channels = shape[3] * multiplier
    weight = (kh, kw, channels)
    op = "pl::depthwise_conv2d"
    return convolution(name, op, shape, weight, channels, options, values, given)


CALLS = [
    Valid(
        OpCall(
            "pl::depthwise_conv2d",
            {
                "input": activation(1, 4, 5, 6),
                "weight": constant(np.ones((3, 3, 6))),
                **per_channel(6),
                **WINDOW,
                **STAGE,
            },
            (activation(1, 2, 3, 6, name="y"),),
        ),
        refused=[({"input": activation(1, 4, 5, 4)}, "not a multiple of 4")],
    ),
]

_SOURCE = "depthwise_conv2d/depthwise_conv2d_s8_scalar.c"

MUTANTS = [
    Mutant(_SOURCE, "sum2 += x[2] * w[2]", "sum2 += x[2] * w[1]"),
    Mutant(_SOURCE, "y > last_y ||", "y > last_y + 1 ||"),
    Mutant(_SOURCE, "(int8_t)params->input_zero_point", "0"),
    Mutant(_SOURCE, "params->dilation_h * row_bytes", "row_bytes"),
    Mutant(_SOURCE, "sum += *x * *w", "sum = *x * *w"),
]


def layers() -> Iterator[Layer]:
    yield _layer("3x3, 8", (48, 48, 8), 1, (1, 1, 1, 1), "vww/dw1")
    yield _layer("3x3 s2, 16", (48, 48, 16), 2, (0, 1, 0, 1), "vww/dw2")
    yield _layer("3x3, 64", (25, 5, 64), 1, (1, 1, 1, 1), "dscnn/dw1")
    yield _layer("3x3, 128", (6, 6, 128), 1, (1, 1, 1, 1), "vww/dw7")
    yield _layer("3x3, 16, small", (10, 10, 16), 1, (1, 1, 1, 1))


def _layer(
    name: str,
    image: tuple[int, int, int],
    stride: int,
    padding: tuple[int, int, int, int],
    peer: str = "",
) -> Layer:
    h, w, c = image
    oh = (h + padding[0] + padding[1] - 3) // stride + 1
    ow = (w + padding[2] + padding[3] - 3) // stride + 1
    arguments = {
        "input": activation(1, h, w, c),
        **weights((3, 3, c), c, 9),
        "stride": [stride, stride],
        "padding": list(padding),
        "dilation": [1, 1],
        "input_zero_point": -128,
        **AFTER_RELU,
    }
    call = OpCall("pl::depthwise_conv2d", arguments, (activation(1, oh, ow, c, name="y"),))
    return Layer(f"depthwise {name}", call, peer)
