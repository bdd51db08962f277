# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::conv2d."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import (
    AFTER_RELU,
    INT16_STAGE,
    STAGE,
    WINDOW,
    activation,
    constant,
    per_channel,
    weights,
)
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.convolutions import LOWEST, WHOLE, Options, convolution, random_window
from kernels.testing.values import Values

Padding = tuple[int, int, int, int]
_NONE, _SAME, _BEHIND = (0, 0, 0, 0), (1, 1, 1, 1), (0, 1, 0, 1)

# name, input NHWC, kernel OHW, and differences from stride 1, no padding, no dilation, one group
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
    (
        "groups of three, stride 2",
        (2, 5, 11, 9),
        (9, 3, 3),
        {"groups": 3, "padding": [1] * 4, "stride": [2, 2], "board": True},
    ),
    (
        "groups of five, three outputs",
        (1, 6, 9, 10),
        (6, 3, 3),
        {"groups": 2, "padding": [1, 1, 2, 0], "board": True},
    ),
    ("one output", (2, 5, 9, 6), (1, 3, 3), {"padding": [1] * 4, "board": True}),
    ("one output, runs of four", (1, 4, 7, 2), (1, 3, 2), {**WHOLE, "board": True}),
    ("two outputs", (1, 5, 9, 6), (2, 3, 3), {**LOWEST, "padding": [1] * 4, "board": True}),
    ("two outputs, inside", (2, 7, 12, 3), (2, 3, 3), {**WHOLE, "stride": [2, 2], "board": True}),
    ("two outputs, dilated rows", (1, 7, 5, 4), (2, 2, 2), {**WHOLE, "dilation": [2, 1]}),
    ("pixels to one output", (2, 3, 7, 11), (1, 1, 1), {**WHOLE, "board": True}),
    ("pixels to two outputs", (1, 3, 6, 8), (2, 1, 1), {**LOWEST, "board": True}),
    ("few pixels to two outputs", (1, 1, 3, 70), (2, 1, 1), WHOLE),
    ("groups, rows of two", (1, 4, 4, 6), (6, 3, 3), {"groups": 3, "board": True}),
    ("groups, rows of three", (1, 5, 3, 8), (6, 3, 3), {"groups": 2, "padding": [1] * 4}),
    ("one output, rows of two", (1, 4, 4, 8), (1, 3, 3), {**WHOLE, "board": True}),
    ("one output, rows of three", (2, 5, 5, 3), (1, 3, 3), {**LOWEST, "board": True}),
    ("one channel to two, padded", (2, 6, 7, 1), (2, 3, 3), {**WHOLE, "padding": [1] * 4}),
    (
        "one channel to three, dilated, padded",
        (1, 6, 9, 1),
        (3, 2, 3),
        {**LOWEST, "dilation": [2, 2], "padding": [1, 1, 2, 3], "board": True},
    ),
    (
        "two channels to three, padded",
        (1, 7, 8, 2),
        (3, 3, 3),
        {**LOWEST, "padding": [1] * 4, "board": True},
    ),
    ("one channel, rows of two", (1, 4, 4, 1), (1, 3, 3), {**WHOLE, "board": True}),
    (
        "groups of nine, dilated",
        (1, 6, 7, 18),
        (8, 2, 3),
        {"groups": 2, "padding": [1, 1, 3, 2], "dilation": [2, 2], "board": True},
    ),
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
    (
        "1-d dilated, two outputs",
        (2, 1, 15, 2),
        (2, 1, 3),
        {**WHOLE, "dilation": [1, 4], "padding": [0, 0, 4, 3], "board": True},
    ),
    (
        "1-d dilated, four outputs",
        (2, 1, 18, 3),
        (4, 1, 3),
        {**LOWEST, "dilation": [1, 2], "board": True},
    ),
    (
        "1-d dilated, padded, four outputs",
        (1, 1, 17, 4),
        (4, 1, 3),
        {**WHOLE, "dilation": [1, 2], "padding": [0, 0, 2, 3], "board": True},
    ),
    (
        "dilation, two outputs",
        (1, 7, 11, 2),
        (2, 3, 3),
        {**LOWEST, "dilation": [2, 2], "padding": [2] * 4, "stride": [1, 2], "board": True},
    ),
    ("dilation, three outputs", (1, 8, 9, 3), (3, 2, 2), {**WHOLE, "dilation": [1, 3]}),
    (
        "one pixel wide",
        (2, 17, 1, 6),
        (5, 4, 1),
        {"padding": [1, 2, 0, 0], "stride": [2, 1], "board": True},
    ),
    ("one pixel wide, dilated", (1, 15, 1, 4), (3, 3, 1), {"dilation": [4, 1]}),
    ("whole rows", (2, 9, 4, 3), (5, 3, 4), {"stride": [2, 1], "board": True}),
    ("whole image", (3, 4, 5, 3), (6, 4, 5), {"board": True}),
    ("one pixel", (1, 1, 1, 7), (5, 1, 1), {}),
    (
        "taps that are never inside",
        (2, 2, 1, 5),
        (7, 5, 3),
        {"padding": [3, 2, 1, 1]},
    ),
    (
        "taps that are never inside, groups",
        (1, 1, 3, 6),
        (4, 3, 4),
        {"groups": 2, "padding": [1, 1, 5, 3], "stride": [1, 2], "dilation": [1, 2]},
    ),
    ("one pixel, 3x3 padded", (1, 1, 1, 4), (3, 3, 3), {"padding": [1] * 4, "board": True}),
    ("large stride", (1, 9, 9, 2), (4, 2, 2), {"stride": [5, 4]}),
    ("deep", (1, 3, 3, 80), (3, 3, 3), {"padding": [1] * 4}),
    (
        "DS-CNN's first",
        (1, 13, 10, 1),
        (16, 10, 4),
        {"padding": [4, 5, 1, 1], "stride": [2, 2], "board": True},
    ),
    ("runs of 4 words", (1, 6, 9, 16), (6, 2, 1), {**LOWEST, "board": True}),
    (
        "runs of 9, after ReLU",
        (1, 7, 12, 3),
        (8, 3, 3),
        {**LOWEST, "padding": [1] * 4, "board": True},
    ),
    ("runs of 15, odd", (1, 8, 13, 3), (5, 5, 5), {**WHOLE, "stride": [2, 2], "board": True}),
    ("runs of 6", (2, 5, 8, 2), (4, 3, 3), {**LOWEST, "board": True}),
    ("1x1 stride 2, odd", (1, 9, 11, 7), (9, 1, 1), {**WHOLE, "stride": [2, 2], "board": True}),
    ("three outputs", (1, 3, 5, 8), (6, 3, 3), {**LOWEST, "board": True}),
    ("weights of -128", (1, 5, 5, 3), (6, 3, 3), {"any": True, "board": True}),
]


def cases() -> Iterator[Case]:
    for name, shape, kernel, options in _NAMED:
        yield _case(name, shape, kernel, options, Values("conv2d", name))
    for name, shape, kernel in [
        ("groups of pixels, larger factors", (2, 3, 3, 8), (10, 1, 1)),
        ("groups of few in a row, larger factors", (1, 3, 6, 8), (2, 1, 3)),
    ]:
        values = Values("conv2d", name)
        given = {"shift": np.ones(kernel[0], np.int32)}
        options = {"groups": 2, "board": True}
        yield _case(name, shape, kernel, options, values, given)
    for index in range(250):
        values = Values("conv2d", index)
        groups = values.choice([1, 1, 1, 2, 3])
        (kh, kw), size, options = random_window(values)
        shape = (values.choice([1, 1, 2]), *size, groups * values.integer(1, 9))
        kernel = (groups * values.integer(1, 9), kh, kw)
        also = {"groups": groups, "any": index % 5 == 0, "board": index % 16 == 0}
        yield _case(f"random {index}", shape, kernel, {**options, **also}, values)
    for name, shape, kernel, options in _NAMED:
        values = Values("conv2d int16", name)
        wide = {**options, "dtype": "int16"}
        yield _case(f"int16 {name}", shape, kernel, wide, values)
        values = Values("conv2d wide", name)
        given = {"bias": values.wide_bias(2**14, kernel[0])}
        wide["board"] = "groups" in options
        yield _case(f"wide {name}", shape, kernel, wide, values, given)
    for index in range(60):
        values = Values("conv2d int16", index)
        groups = values.choice([1, 1, 2, 3])
        (kh, kw), size, options = random_window(values)
        shape = (values.choice([1, 1, 2]), *size, groups * values.integer(1, 9))
        kernel = (groups * values.integer(1, 9), kh, kw)
        options = {**options, "groups": groups, "dtype": "int16"}
        yield _case(f"int16 random {index}", shape, kernel, options, values)
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


CALLS = [
    Valid(
        OpCall(
            "pl::conv2d",
            {
                "input": activation(1, 4, 5, 6),
                "weight": constant(np.ones((8, 3, 3, 6))),
                **per_channel(8),
                **WINDOW,
                "groups": 1,
                **STAGE,
            },
            (activation(1, 2, 3, 8, name="y"),),
        ),
        refused=[
            ({"stride": [0, 1]}, "stride is .* at least 1"),
            ({"stride": [1]}, "stride has 1 items, not 2"),
            ({"padding": [1, 1, 1, 1]}, "output has shape .* it should be"),
            ({"groups": 4}, "in 4 groups"),
            ({"groups": 2}, "does not go with 6 input channels in 2 groups"),
            ({"weight": activation(8, 3, 3, 6)}, "weight must be a constant"),
            ({"weight": constant(np.ones((8, 9, 6)))}, "not 4 dimensions"),
            ({"input": activation(1, 4, 5, 6, dtype="float32")}, "float32, not int8"),
            ({"bias": constant([0] * 7, "int32")}, "bias has 7 entries for 8"),
            ({"multiplier": constant([5] * 8, "int32")}, "2\\^30"),
            ({"multiplier": constant([-(2**30)] * 8, "int32")}, "2\\^30"),
            ({"shift": constant([31] * 8, "int32")}, "shift .* is 31"),
            ({"bias": constant([2**31 - 1] * 8, "int32")}, "overflow int32"),
            ({"input_zero_point": 128}, "input_zero_point is 128"),
            ({"activation_min": 5, "activation_max": 4}, "5 is above .* 4"),
        ],
    ),
]

MUTANTS = [
    Mutant("conv2d/windows_s16.h", "first + t.begin * dilation", "first + t.begin"),
    Mutant("conv2d/windows_s16.h", "first + (t.end - 1) * dilation", "first + t.end - 1"),
    Mutant("conv2d/windows_s16.h", "w->rows.begin * w->kernel_w + ", ""),
    Mutant("conv2d/conv2d_s16_scalar.c", "weight + x * w->depth", "weight"),
    Mutant("conv2d/conv2d_s16_scalar.c", "first += w->depth", "first += 0"),
    Mutant("conv2d/conv2d_blocks_s16.c", "x += w->depth", "x += 0"),
    Mutant(
        "conv2d/conv2d_blocks_s16.c", "factors += pl_dots_factors(window.channels)", "factors += 12"
    ),
    Mutant("common/dots_by_runs.h", "run += of->column_step", "run += of->count"),
    Mutant("common/dots_by_runs.h", "of_row += of->weight_step", "of_row += of->count"),
    Mutant(
        "common/dots_by_runs.h", "weight += next * of->weights", "weight += PL_DOTS * of->weights"
    ),
    Mutant("common/dots_by_runs.h", "lane < lanes", "lane < PL_DOTS"),
    Mutant("conv2d/windows_s16.h", "(x + w.columns.begin * params->dilation_w)", "x"),
    Mutant("common/requantize.h", "+= 2 * channels", "+= channels"),
    Mutant("common/requantize.c", "maximum - minimum == INT8_MAX - INT8_MIN", "maximum == 127"),
    Mutant("common/gemm_s8_scalar.c", "const int8_t *x1 = row1", "const int8_t *x1 = row0"),
    Mutant("common/window_s8.h", "if (y < 0 || y >=", "if (y >="),
    Mutant("common/window_s8.h", "inside = shape->input_w - x0", "inside = shape->input_w"),
    Mutant("common/window_s8.c", "(width + dilation - 1) / dilation", "width / dilation"),
    Mutant("common/window_s8.c", "smaller(taps, shape->kernel_w)", "taps"),
    Mutant("common/window_s8.c", "x0) * shape->input_c + before * step", "x0) * shape->input_c"),
    Mutant("common/window_s8.c", "if (behind > 0)", "if (behind > 1)"),
    Mutant("common/window_s8.c", "y += shape->dilation_h", "y += 1"),
    Mutant("common/window_s8.h", "y += shape->dilation_h", "y += 1"),
    Mutant("conv2d/conv2d_s8.c", "ox * params->stride_w", "ox * params->stride_h"),
    Mutant(  # from the last row to the first
        "conv2d/conv2d_runs_s8.c",
        "row, params->stride_w * dims->input_c, output,",
        "row + (dims->output_h - 1 - 2 * oy) * params->stride_h * row_bytes, "
        "params->stride_w * dims->input_c, "
        "output + (dims->output_h - 1 - 2 * oy) * dims->output_w * dims->output_c,",
    ),
    Mutant("conv2d/conv2d_s8.c", "layer.bias += dims->packed_c", "layer.bias += layer.channels"),
    Mutant("conv2d/conv2d_s8.c", "image += image_bytes", "image += result_bytes"),
    Mutant("conv2d/conv2d_rows_s8_scalar.c", "(c == 0 || tap_c > 1)", "c == 0"),
    Mutant("conv2d/conv2d_rows_s8_scalar.c", "fourth += of->run_gap", "fourth += 0"),
    Mutant("conv2d/conv2d_rows_s8_scalar.c", "params->stride_w * row_c", "row_c"),
    Mutant("conv2d/conv2d_rows_s8_scalar.c", "*at++ = from[c]", "*at++ = from[0]"),
    Mutant("conv2d/conv2d_rows_s8_scalar.c", "image + c, y,", "image, y,"),
    Mutant("conv2d/conv2d_runs_s8.c", "params->stride_h * row_bytes", "row_bytes"),
]


# image HWC, kernel OHW, stride, the peer's key, and differences from no dilation and one group.
_LAYERS: list[tuple[tuple[int, int, int], tuple[int, int, int], int, Padding, str, Options]] = [
    ((49, 10, 1), (64, 10, 4), 2, (4, 5, 1, 1), "dscnn/conv1", {}),
    ((25, 5, 64), (64, 1, 1), 1, _NONE, "dscnn/pw1", {}),
    ((96, 96, 3), (8, 3, 3), 2, _BEHIND, "vww/conv1", {}),
    ((48, 48, 8), (16, 1, 1), 1, _NONE, "vww/pw1", {}),
    ((24, 24, 16), (32, 1, 1), 1, _NONE, "vww/pw2", {}),
    ((24, 24, 32), (32, 1, 1), 1, _NONE, "vww/pw3", {}),
    ((12, 12, 32), (64, 1, 1), 1, _NONE, "vww/pw4", {}),
    ((12, 12, 64), (64, 1, 1), 1, _NONE, "vww/pw5", {}),
    ((6, 6, 64), (128, 1, 1), 1, _NONE, "vww/pw6", {}),
    ((6, 6, 128), (128, 1, 1), 1, _NONE, "vww/pw7", {}),
    ((3, 3, 128), (256, 1, 1), 1, _NONE, "vww/pw12", {}),
    ((3, 3, 256), (256, 1, 1), 1, _NONE, "vww/pw13", {}),
    ((32, 32, 3), (16, 3, 3), 1, _SAME, "resnet8/conv1", {}),
    ((32, 32, 16), (16, 3, 3), 1, _SAME, "resnet8/s1c1", {}),
    ((32, 32, 16), (32, 3, 3), 2, _BEHIND, "resnet8/s2c1", {}),
    ((16, 16, 32), (32, 3, 3), 1, _SAME, "resnet8/s2c2", {}),
    ((32, 32, 16), (32, 1, 1), 2, _NONE, "resnet8/s2sc", {}),
    ((16, 16, 32), (64, 3, 3), 2, _BEHIND, "resnet8/s3c1", {}),
    ((8, 8, 64), (64, 3, 3), 1, _SAME, "resnet8/s3c2", {}),
    ((16, 16, 32), (64, 1, 1), 2, _NONE, "resnet8/s3sc", {}),
    ((8, 8, 8), (8, 3, 3), 1, _SAME, "", {}),
    ((9, 9, 5), (7, 3, 3), 1, _SAME, "", {}),
    ((12, 12, 3), (10, 5, 5), 2, (2, 2, 2, 2), "", {}),
    ((16, 16, 3), (16, 7, 7), 2, (3, 3, 3, 3), "", {}),
    ((10, 10, 12), (12, 3, 3), 1, (2, 2, 2, 2), "", {"dilation": [2, 2]}),
    ((8, 8, 16), (16, 3, 3), 1, _SAME, "", {"groups": 4}),
    ((8, 8, 32), (32, 1, 1), 1, (0, 0, 0, 0), "", {"groups": 16}),
    ((1, 40, 12), (20, 1, 9), 1, (0, 0, 4, 4), "", {}),
    ((4, 4, 128), (64, 3, 3), 1, _SAME, "", {}),
    ((7, 7, 30), (31, 1, 1), 1, _NONE, "", {}),
    ((64, 1, 10), (20, 5, 1), 1, (2, 2, 0, 0), "", {}),
    ((9, 9, 21), (9, 3, 3), 1, _SAME, "", {"groups": 3}),
    ((12, 12, 16), (1, 1, 1), 1, _NONE, "", {}),
    ((12, 12, 40), (2, 1, 1), 1, _NONE, "", {}),
    ((6, 6, 40), (2, 1, 1), 1, _NONE, "", {}),
    ((12, 12, 8), (2, 3, 3), 1, _SAME, "", {}),
]


def layers() -> Iterator[Layer]:
    for image, kernel, stride, padding, peer, options in _LAYERS:
        yield _layer(image, kernel, stride, padding, peer, options)
    for name, (h, w, c), (count, kh, kw), padding in (
        ("3x3, 8x8x16 to 16", (8, 8, 16), (16, 3, 3), _SAME),
        ("3x3, 8x8x3 to 8", (8, 8, 3), (8, 3, 3), _SAME),
        ("1x9, 1x40x12 to 20", (1, 40, 12), (20, 1, 9), (0, 0, 4, 4)),
    ):
        arguments = {
            "input": activation(1, h, w, c, dtype="int16"),
            **weights((count, kh, kw, c), count, kh * kw * c),
            "stride": [1, 1],
            "padding": list(padding),
            "dilation": [1, 1],
            "groups": 1,
            "input_zero_point": 0,
            **INT16_STAGE,
        }
        output = activation(1, h, w, count, dtype="int16", name="y")
        yield Layer(f"conv int16 {name}", OpCall("pl::conv2d", arguments, (output,)))


def _layer(
    image: tuple[int, int, int],
    kernel: tuple[int, int, int],
    stride: int,
    padding: Padding,
    peer: str,
    options: Options,
) -> Layer:
    (h, w, c), (count, kh, kw) = image, kernel
    groups, dilation = options.get("groups", 1), options.get("dilation", [1, 1])
    oh = (h + padding[0] + padding[1] - dilation[0] * (kh - 1) - 1) // stride + 1
    ow = (w + padding[2] + padding[3] - dilation[1] * (kw - 1) - 1) // stride + 1
    arguments = {
        "input": activation(1, h, w, c),
        **weights((count, kh, kw, c // groups), count, kh * kw * c // groups),
        "stride": [stride, stride],
        "padding": list(padding),
        "dilation": dilation,
        "groups": groups,
        "input_zero_point": -128,
        **AFTER_RELU,
    }
    call = OpCall("pl::conv2d", arguments, (activation(1, oh, ow, count, name="y"),))
    also = "".join(f", {name} {value}" for name, value in options.items())
    strided = f" s{stride}" if stride > 1 else ""
    return Layer(f"conv {kh}x{kw}{strided}, {h}x{w}x{c} to {count}{also}", call, peer)
