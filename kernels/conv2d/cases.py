# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::conv2d."""

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.common.kernel import AnyArray
from kernels.testing.case import Case
from kernels.testing.convolutions import Options, convolution, random_window
from kernels.testing.values import Values

# name, input NHWC, kernel OHW, and what differs from stride 1, no padding, no dilation, one group
_NAMED: list[tuple[str, tuple[int, ...], tuple[int, int, int], dict[str, Any]]] = [
    ("3x3", (1, 6, 7, 4), (8, 3, 3), {}),
    ("3x3 padded", (1, 5, 6, 3), (7, 3, 3), {"padding": [1, 1, 1, 1], "board": True}),
    ("3x3 stride 2, same", (1, 7, 8, 5), (4, 3, 3), {"padding": [1, 1, 0, 1], "stride": [2, 2]}),
    ("uneven padding", (1, 4, 5, 2), (3, 3, 2), {"padding": [2, 0, 0, 3], "board": True}),
    ("padding wider than the kernel", (1, 2, 2, 3), (5, 2, 2), {"padding": [3, 3, 3, 3]}),
    ("dilation", (1, 9, 8, 3), (5, 3, 3), {"dilation": [2, 3], "board": True}),
    ("dilation and padding", (1, 6, 6, 4), (4, 3, 3), {"dilation": [2, 2], "padding": [2] * 4}),
    ("dilated rows only", (1, 7, 5, 2), (3, 2, 3), {"dilation": [3, 1], "padding": [1] * 4}),
    ("groups", (1, 5, 5, 6), (9, 3, 3), {"groups": 3, "padding": [1] * 4, "board": True}),
    ("groups of one channel", (1, 4, 4, 3), (6, 2, 2), {"groups": 3, "padding": [0, 1, 0, 1]}),
    ("two groups, 1x1", (2, 3, 3, 8), (10, 1, 1), {"groups": 2}),
    ("1x1", (1, 5, 5, 16), (12, 1, 1), {"board": True}),
    ("1x1 batch", (3, 2, 3, 5), (3, 1, 1), {}),
    ("1x1 stride 2", (2, 5, 6, 9), (6, 1, 1), {"stride": [2, 2], "board": True}),
    ("1x1 padded", (1, 3, 3, 4), (5, 1, 1), {"padding": [1, 0, 0, 1]}),
    ("one channel", (1, 9, 8, 1), (8, 5, 4), {"padding": [2, 2, 1, 2], "stride": [2, 2]}),
    ("1-d", (1, 1, 20, 6), (5, 1, 5), {"board": True}),
    ("1-d stride 3", (2, 1, 23, 3), (4, 1, 4), {"stride": [1, 3]}),
    ("1-d padded", (1, 1, 11, 4), (6, 1, 3), {"padding": [0, 0, 1, 1]}),
    ("1-d dilated", (1, 1, 15, 4), (3, 1, 3), {"dilation": [1, 4]}),
    ("whole rows", (2, 9, 4, 3), (5, 3, 4), {"stride": [2, 1], "board": True}),
    ("whole image", (3, 4, 5, 3), (6, 4, 5), {"board": True}),
    ("one pixel", (1, 1, 1, 7), (5, 1, 1), {}),
    ("one pixel, 3x3 padded", (1, 1, 1, 4), (3, 3, 3), {"padding": [1] * 4, "board": True}),
    ("large stride", (1, 9, 9, 2), (4, 2, 2), {"stride": [5, 4]}),
    ("deep", (1, 3, 3, 130), (3, 3, 3), {"padding": [1] * 4}),
    ("DS-CNN's first", (1, 13, 10, 1), (16, 10, 4), {"padding": [4, 5, 1, 1], "stride": [2, 2]}),
]


def cases() -> Iterator[Case]:
    for name, shape, kernel, options in _NAMED:
        yield _case(name, shape, kernel, options, Values("conv2d", name))
    for index in range(250):
        values = Values("conv2d", index)
        groups = values.choice([1, 1, 1, 2, 3])
        (kh, kw), size, options = random_window(values)
        shape = (values.choice([1, 1, 2]), *size, groups * values.integer(1, 9))
        kernel = (groups * values.integer(1, 9), kh, kw)
        yield _case(f"random {index}", shape, kernel, {**options, "groups": groups}, values)
    for index in range(6):
        values = Values("conv2d extreme", index)
        given = {
            "input": values.extreme_int8(1, 4, 4, 5),
            "weight": values.extreme_int8(5, 3, 3, 5),
        }
        options = {"padding": [1] * 4, "board": index < 2}
        yield _case(f"extreme products {index}", (1, 4, 4, 5), (5, 3, 3), options, values, given)


def _case(
    name: str,
    shape: tuple[int, ...],
    kernel: tuple[int, int, int],
    options: Options,
    values: Values,
    given: Mapping[str, AnyArray] | None = None,
) -> Case:
    options = {"groups": 1, **options}
    weight = (*kernel, shape[3] // options["groups"])
    return convolution(name, "pl::conv2d", shape, weight, kernel[0], options, values, given)
