# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::depthwise_conv2d."""

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.common.kernel import AnyArray
from kernels.testing.case import Case
from kernels.testing.convolutions import Options, convolution, random_window
from kernels.testing.values import Values

# name, input NHWC, kernel HW and channel multiplier, and what differs from the defaults
_NAMED: list[tuple[str, tuple[int, ...], tuple[int, int, int], dict[str, Any]]] = [
    ("3x3", (1, 5, 6, 8), (3, 3, 1), {"board": True}),
    ("3x3 padded", (1, 4, 5, 8), (3, 3, 1), {"padding": [1] * 4, "board": True}),
    ("3x3 stride 2, same", (1, 7, 8, 5), (3, 3, 1), {"padding": [1, 1, 0, 1], "stride": [2, 2]}),
    ("odd channels", (1, 4, 4, 7), (3, 3, 1), {"padding": [1] * 4, "board": True}),
    ("three channels", (2, 4, 4, 3), (2, 3, 1), {}),
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
    ("many channels", (1, 3, 3, 67), (3, 3, 1), {"padding": [1] * 4}),
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
