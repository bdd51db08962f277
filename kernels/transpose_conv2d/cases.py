# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::transpose_conv2d."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import (
    AFTER_RELU,
    INT16_STAGE,
    STAGE,
    activation,
    constant,
    per_channel,
    weights,
)
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.convolutions import Options, convolution
from kernels.testing.values import Values

# name, input NHWC, kernel OHW, and differences from stride 1, no padding, no dilation, one group
# and the full reach of the input
_NAMED: list[tuple[str, tuple[int, ...], tuple[int, int, int], dict[str, Any]]] = [
    ("3x3", (1, 4, 5, 4), (6, 3, 3), {"board": True}),
    ("2x2 stride 2", (1, 4, 5, 6), (5, 2, 2), {"stride": [2, 2], "board": True}),
    (
        "3x3 stride 2, padded, one more",
        (1, 4, 3, 5),
        (4, 3, 3),
        {"stride": [2, 2], "padding": [1, 1], "more": [1, 1], "board": True},
    ),
    ("4x4 stride 2, padded", (2, 3, 4, 3), (7, 4, 4), {"stride": [2, 2], "padding": [1, 1]}),
    ("stride by axis", (1, 5, 4, 3), (4, 3, 2), {"stride": [1, 3], "padding": [2, 0]}),
    (
        "stride beyond the kernel",
        (1, 3, 4, 5),
        (3, 1, 2),
        {"stride": [2, 4], "more": [1, 2], "board": True},
    ),
    ("one channel, long rows", (1, 2, 11, 1), (1, 2, 2), {"stride": [2, 2], "board": True}),
    (
        "long rows, padded, more of them",
        (2, 2, 11, 3),
        (5, 1, 4),
        {"stride": [1, 2], "padding": [0, 1], "more": [0, 1], "board": True},
    ),
    (
        "one output channel",
        (1, 5, 6, 9),
        (1, 3, 3),
        {"stride": [2, 2], "padding": [1, 1], "board": "mve"},
    ),
    (
        "two output channels, long rows",
        (2, 3, 9, 5),
        (2, 3, 2),
        {"stride": [2, 1], "padding": [1, 0], "board": "mve"},
    ),
    (
        "groups of one output channel",
        (1, 4, 7, 6),
        (3, 3, 3),
        {"groups": 3, "stride": [2, 2], "board": "mve"},
    ),
    ("dilation", (1, 4, 4, 3), (5, 3, 2), {"dilation": [2, 3], "padding": [1, 2]}),
    (
        "dilation and stride with a common factor",
        (1, 4, 3, 4),
        (5, 3, 3),
        {"dilation": [2, 4], "stride": [2, 6], "more": [1, 3], "board": True},
    ),
    (
        "dilation and stride without",
        (1, 4, 4, 3),
        (4, 3, 4),
        {"dilation": [3, 2], "stride": [2, 3]},
    ),
    (
        "groups",
        (2, 3, 3, 6),
        (9, 3, 3),
        {"groups": 3, "stride": [2, 2], "padding": [1, 1], "board": True},
    ),
    ("depthwise", (1, 3, 4, 5), (5, 4, 4), {"groups": 5, "stride": [2, 2], "padding": [1, 1]}),
    (
        "depthwise, dilated",
        (2, 3, 3, 11),
        (11, 3, 2),
        {"groups": 11, "stride": [2, 3], "dilation": [1, 2], "more": [1, 0], "board": True},
    ),
    ("one pixel", (1, 1, 1, 7), (5, 4, 3), {"stride": [2, 2]}),
    ("images of one value", (2, 1, 1, 1), (1, 1, 1), {}),
    ("1-d", (1, 1, 9, 4), (6, 1, 4), {"stride": [1, 2], "padding": [0, 1]}),
    ("1x1", (1, 4, 3, 9), (6, 1, 1), {}),
    ("a part out of reach", (1, 2, 2, 3), (4, 2, 2), {"padding": [4, 1], "more": [9, 5]}),
    ("deep", (1, 2, 3, 130), (3, 3, 3), {"stride": [2, 2]}),
    (
        "phases of many values",
        (2, 3, 7, 9),
        (6, 3, 3),
        {"stride": [2, 2], "padding": [1, 1], "more": [1, 1], "board": True},
    ),
    ("groups of many values", (1, 3, 5, 24), (8, 2, 2), {"groups": 2, "board": True}),
    ("several blocks", (1, 1, 2, 70), (26, 1, 2), {"board": True}),
]


def cases() -> Iterator[Case]:
    for name, shape, kernel, options in _NAMED:
        yield _case(name, shape, kernel, options, Values("transpose_conv2d", name))
        wide = {**options, "dtype": "int16"}
        values = Values("transpose_conv2d int16", name)
        yield _case(f"int16 {name}", shape, kernel, wide, values)
        values = Values("transpose_conv2d wide", name)
        given = {"bias": values.wide_bias(2**14, kernel[0])}
        wide["board"] = name == "groups"
        yield _case(f"wide {name}", shape, kernel, wide, values, given)
    for index in range(150):
        values = Values("transpose_conv2d", index)
        groups = values.choice([1, 1, 1, 2, 3])
        stride = [values.integer(1, 3), values.integer(1, 3)]
        dilation = [values.choice([1, 1, 2, 3]) for _ in range(2)]
        size = [values.integer(1, 4), values.integer(1, 4)]
        window = [values.integer(1, 4), values.integer(1, 4)]
        reach = [(size[d] - 1) * stride[d] + dilation[d] * (window[d] - 1) + 1 for d in range(2)]
        padding = [values.integer(0, min(3, (reach[d] - 1) // 2)) for d in range(2)]
        options = {
            "stride": stride,
            "dilation": dilation,
            "padding": padding,
            "more": [values.integer(0, max(stride[d], dilation[d]) - 1) for d in range(2)],
            "groups": groups,
        }
        shape = (values.choice([1, 1, 2]), *size, groups * values.integer(1, 9))
        kernel = (groups * values.integer(1, 9), window[0], window[1])
        yield _case(f"random {index}", shape, kernel, options, values)
    for index in range(4):
        values = Values("transpose_conv2d extreme, many", index)
        weight = np.where(values.extreme_int8(6, 2, 2, 12) < 0, -127, 127).astype(np.int8)
        weight[..., ::4] = -128  # one of two values of a word
        given = {"input": values.extreme_int8(1, 3, 5, 12), "weight": weight}
        options = {"stride": [2, 2], "board": True}
        yield _case(f"extreme {index}, many", (1, 3, 5, 12), (6, 2, 2), options, values, given)
    for index in range(6):
        values = Values("transpose_conv2d extreme", index)
        given = {
            "input": values.extreme_int8(1, 3, 4, 5),
            "weight": values.extreme_int8(5, 3, 3, 5),
        }
        options = {"stride": [2, 2], "padding": [1, 1], "board": index < 2}
        yield _case(f"extreme products {index}", (1, 3, 4, 5), (5, 3, 3), options, values, given)


def _case(
    name: str,
    shape: tuple[int, ...],
    kernel: tuple[int, int, int],
    options: Options,
    values: Values,
    given: Mapping[str, AnyArray] | None = None,
) -> Case:
    """Return a case. `more` is extra output rows and columns, after the size with padding on both
    sides.
    """
    options = {
        "groups": 1,
        "stride": [1, 1],
        "padding": [0, 0],
        "dilation": [1, 1],
        **options,
    }
    more = options.pop("more", [0, 0])
    options["output_size"] = [
        (shape[1 + d] - 1) * options["stride"][d]
        + options["dilation"][d] * (kernel[1 + d] - 1)
        + 1
        - 2 * options["padding"][d]
        + more[d]
        for d in range(2)
    ]
    weight = (*kernel, shape[3] // options["groups"])
    op = "pl::transpose_conv2d"
    return convolution(name, op, shape, weight, kernel[0], options, values, given)


CALLS = [
    Valid(
        OpCall(
            "pl::transpose_conv2d",
            {
                "input": activation(1, 4, 5, 6),
                "weight": constant(np.ones((8, 3, 3, 6))),
                **per_channel(8),
                "stride": [2, 2],
                "padding": [1, 1],
                "dilation": [1, 1],
                "output_size": [8, 10],
                "groups": 1,
                "input_zero_point": 0,
                **STAGE,
            },
            (activation(1, 8, 10, 8, name="y"),),
        ),
        refused=[
            ({"stride": [0, 1]}, "stride is .* at least 1"),
            ({"stride": [1]}, "stride has 1 items, not 2"),
            ({"padding": [-1, 0]}, "padding is .* at least 0"),
            ({"dilation": [1, 0]}, "dilation is .* at least 1"),
            ({"output_size": [7, 10]}, "output has shape .* it should be"),
            ({"groups": 2}, "does not go with 6 input channels in 2 groups"),
            ({"groups": 3}, "in 3 groups"),
            ({"weight": activation(8, 3, 3, 6)}, "weight must be a constant"),
            ({"input": activation(1, 4, 5, 6, dtype="float32")}, "float32, not int8 or int16"),
            ({"bias": constant([0] * 7, "int32")}, "bias has 7 entries for 8"),
            ({"multiplier": constant([5] * 8, "int32")}, "2\\^30"),
            ({"bias": constant([2**31 - 1] * 8, "int32")}, "overflow int32"),
            ({"input_zero_point": 128}, "input_zero_point is 128"),
            (
                {"input": activation(1, 4, 5, 6, dtype="int16")},
                "is int8, not int16",
            ),
            ({"activation_min": 5, "activation_max": 4}, "5 is above .* 4"),
        ],
    ),
]

_SOURCE = "transpose_conv2d/phases.h"

_SOURCE_S16 = "transpose_conv2d/windows_s16.h"

MUTANTS = [
    Mutant(_SOURCE_S16, "(w.rows.begin - y) / params->dilation_h", "(w.rows.begin - y)"),
    Mutant(_SOURCE_S16, "x = phase->input_x", "x = 0"),
    Mutant(_SOURCE_S16, "phase->output_y - params->first_row", "phase->output_y"),
    Mutant("transpose_conv2d/transpose_conv2d_s16_scalar.c", "image += w->depth", "image += 1"),
    Mutant("transpose_conv2d/transpose_conv2d_blocks_s16.c", "x += w->depth", "x += 1"),
    Mutant(
        "transpose_conv2d/transpose_conv2d_depthwise_s16.c",
        "w->weight_step * channels",
        "w->weight_step",
    ),
    Mutant(
        "transpose_conv2d/transpose_conv2d_depthwise_s16.c",
        "w->first_weight * channels",
        "w->first_weight",
    ),
    Mutant(
        "transpose_conv2d/transpose_conv2d_blocks_s16.c",
        "weight += window.channels * size",
        "weight += size",
    ),
    Mutant(_SOURCE, "oy += params->stride_h, ++y", "oy += params->stride_h"),
    Mutant(_SOURCE, "x = phase->input_x", "x = 0"),
    Mutant(_SOURCE, "phase->output_y - params->first_row", "phase->output_y"),
    Mutant(_SOURCE, "row += windows.count * step", "row += step"),
    Mutant(_SOURCE, "pl_smaller(left, end_x - x)", "left"),
    Mutant(_SOURCE, "x >= 0 && x < end_x", "x < end_x"),
    Mutant(_SOURCE, "(int8_t)params->input_zero_point", "0"),
    Mutant(_SOURCE, "matrix.bias += bias_words * dims->packed_c", "matrix.bias += matrix.channels"),
    Mutant(_SOURCE, "image += image_bytes", "image += result_bytes"),
]


def layers() -> Iterator[Layer]:
    yield _layer("2x2 s2, 32 to 16", (16, 16, 32), (16, 2, 2), 0)
    yield _layer("4x4 s2, 16 to 8", (16, 16, 16), (8, 4, 4), 1)
    yield _layer("2x2 s2, 1 to 1", (16, 16, 1), (1, 2, 2), 0)
    yield _layer("3x3 s2, 16 to 1", (14, 14, 16), (1, 3, 3), 1)
    yield _layer("2x2 s2, 16 to 8", (8, 8, 16), (8, 2, 2), 0, "int16")
    yield _layer("4x4 s2, 16 to 8", (8, 8, 16), (8, 4, 4), 1, "int16")


def _layer(
    name: str,
    image: tuple[int, int, int],
    kernel: tuple[int, int, int],
    padding: int,
    dtype: str = "int8",
) -> Layer:
    (h, w, c), (count, kh, kw) = image, kernel
    stage = {"input_zero_point": -128, **AFTER_RELU}
    if dtype == "int16":
        name, stage = f"int16 {name}", {"input_zero_point": 0, **INT16_STAGE}
    arguments = {
        "input": activation(1, h, w, c, dtype=dtype),
        **weights((count, kh, kw, c), count, kh * kw * c // 4),
        "stride": [2, 2],
        "padding": [padding, padding],
        "dilation": [1, 1],
        "output_size": [2 * h, 2 * w],
        "groups": 1,
        **stage,
    }
    result = activation(1, 2 * h, 2 * w, count, dtype=dtype, name="y")
    return Layer(f"transpose conv {name}", OpCall("pl::transpose_conv2d", arguments, (result,)))
