# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::depthwise_conv2d."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.depthwise_conv2d.cases_named import DIRECT, NAMED
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
_SAME, _BEHIND = (1, 1, 1, 1), (0, 1, 0, 1)


def cases() -> Iterator[Case]:
    for name, shape, kernel, options in NAMED:
        yield _case(name, shape, kernel, options, Values("depthwise", name))
    for name, shape, kernel, options in DIRECT:
        values = Values("depthwise", name)
        yield _case(name, shape, kernel, {**options, "board": "mve"}, values)
    for name, shape, kernel, options in NAMED:
        values = Values("depthwise int16", name)
        shape = (shape[0], min(shape[1], 12), min(shape[2], 12), shape[3])  # no strips
        yield _case(f"int16 {name}", shape, kernel, {**options, "dtype": "int16"}, values)
    for index in range(200):
        values = Values("depthwise", index)
        (kh, kw), size, options = random_window(values)
        shape = (values.choice([1, 1, 2]), *size, values.integer(1, 18))
        kernel = (kh, kw, values.choice([1, 1, 1, 2]))
        also = {"any": index % 5 == 0, "board": index % 20 == 0}
        yield _case(f"random {index}", shape, kernel, {**options, **also}, values)
    for index in range(60):
        yield _random_3x3(index)
    for index in range(6):
        values = Values("depthwise extreme", index)
        given = {"input": values.extreme_int8(1, 4, 4, 6), "weight": values.extreme_int8(3, 3, 6)}
        options = {"padding": [1] * 4, "board": index < 2}
        yield _case(f"extreme products {index}", (1, 4, 4, 6), (3, 3, 1), options, values, given)


def _random_3x3(index: int) -> Case:
    """Return a case with a 3x3 window. This size has a kernel of its own."""
    values = Values("depthwise 3x3", index)
    padding = [values.integer(0, 3) for _ in range(4)]
    h = values.integer(max(1, 3 - padding[0] - padding[1]), 13)
    w = values.integer(max(1, 3 - padding[2] - padding[3]), 13)
    shape = (values.choice([1, 1, 2]), h, w, values.integer(4, 14))
    options = {
        "stride": [values.integer(1, 3), values.choice([1, 1, 2])],
        "padding": padding,
        **values.choice([LOWEST, WHOLE, {}]),
        "board": index % 10 == 0,
    }
    return _case(f"random 3x3 {index}", shape, (3, 3, 1), options, values)


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

_ROWS_SOURCE = "conv2d/conv2d_rows_s8_scalar.c"

_INT16_SOURCE = "common/depthwise_s16_scalar.c"

MUTANTS = [
    Mutant(_SOURCE, "sum6 += x[6] * w[6]", "sum6 += x[6] * w[5]"),
    Mutant(_SOURCE, "x[3] * w[3];\n      x += step;", "x[3] * w[2];\n      x += step;"),
    Mutant(_SOURCE, "y > last_y ||", "y > last_y + 1 ||"),
    Mutant(_SOURCE, "(int8_t)params->input_zero_point", "0"),
    Mutant(_SOURCE, "params->dilation_h * row_bytes", "row_bytes"),
    Mutant(_SOURCE, "sum += *x * *w", "sum = *x * *w"),
    Mutant(_SOURCE, "dims->repeats == 1 && channels >= FOUR", "channels >= FOUR"),
    Mutant(_SOURCE, "ctx->scratch + ox * step", "ctx->scratch"),
    Mutant(_SOURCE, "(dims->output_w - 1) * params->stride_w : 0", "dims->output_w - 1 : 0"),
    Mutant(_SOURCE, "if (i == count - FOUR &&", "if (i <= count - FOUR &&"),
    Mutant(_ROWS_SOURCE, "result, x + i * of->step", "result, x + of->step"),
    Mutant(_ROWS_SOURCE, "x[third] * weight", "x[step] * weight"),
    Mutant(_ROWS_SOURCE, "? 2 * step", "? step"),
    Mutant(_ROWS_SOURCE, ".third = has_third ? step : 0", ".third = step"),
    Mutant(_ROWS_SOURCE, "has_fourth ? dims->output_c : 0", "dims->output_c"),
    Mutant(_ROWS_SOURCE, "params->pad_left * row_c", "0"),
    Mutant(_ROWS_SOURCE, "y < 0 || y >= dims->input_h", "y < 0"),
    Mutant(
        _ROWS_SOURCE, "pl_fill_bytes(to, (int8_t)params->input_zero_point", "pl_fill_bytes(to, 0"
    ),
    Mutant(_ROWS_SOURCE, "if (tap_c == 1) ++x;", ""),
    Mutant(_ROWS_SOURCE, "smaller(i, last)", "i"),
    Mutant(_INT16_SOURCE, "sum3 += x[3] * w[3]", "sum3 += x[3] * w[0]"),
    Mutant(_INT16_SOURCE, "sum2, c + 2, output", "sum1, c + 2, output"),
    Mutant(_INT16_SOURCE, "sum += *x * *w", "sum = *x * *w"),
    Mutant(
        "depthwise_conv2d/depthwise_conv2d_s16.c", "while (kernel > begin", "if (kernel > begin"
    ),
    Mutant("depthwise_conv2d/depthwise_conv2d_s16.c", "rows.begin * dims->kernel_w + ", ""),
    Mutant("common/wide.h", "high + (1 << (right - 1))", "high"),
]


# image HWC, kernel HW, stride, padding, dilation, the peer's key
_LAYERS: list[tuple[tuple[int, int, int], tuple[int, int], int, Padding, int, str]] = [
    ((25, 5, 64), (3, 3), 1, _SAME, 1, "dscnn/dw1"),
    ((48, 48, 8), (3, 3), 1, _SAME, 1, "vww/dw1"),
    ((48, 48, 16), (3, 3), 2, _BEHIND, 1, "vww/dw2"),
    ((24, 24, 32), (3, 3), 1, _SAME, 1, "vww/dw3"),
    ((24, 24, 32), (3, 3), 2, _BEHIND, 1, "vww/dw4"),
    ((12, 12, 64), (3, 3), 1, _SAME, 1, "vww/dw5"),
    ((12, 12, 64), (3, 3), 2, _BEHIND, 1, "vww/dw6"),
    ((6, 6, 128), (3, 3), 1, _SAME, 1, "vww/dw7"),
    ((6, 6, 128), (3, 3), 2, _BEHIND, 1, "vww/dw12"),
    ((3, 3, 256), (3, 3), 1, _SAME, 1, "vww/dw13"),
    ((10, 10, 16), (3, 3), 1, _SAME, 1, ""),
    ((9, 9, 7), (3, 3), 1, _SAME, 1, ""),
    ((12, 12, 16), (5, 5), 1, (2, 2, 2, 2), 1, ""),
    ((12, 12, 20), (7, 7), 2, (3, 3, 3, 3), 1, ""),
    ((20, 20, 8), (7, 7), 1, (3, 3, 3, 3), 1, ""),
    ((14, 14, 24), (5, 5), 2, (1, 2, 1, 2), 1, ""),
    ((10, 10, 16), (3, 3), 1, (2, 2, 2, 2), 2, ""),
    ((1, 40, 24), (1, 9), 1, (0, 0, 4, 4), 1, ""),
    ((11, 11, 30), (3, 3), 2, _SAME, 1, ""),
    ((9, 9, 19), (5, 5), 2, (2, 2, 2, 2), 1, ""),
    ((4, 4, 50), (2, 2), 1, (0, 0, 0, 0), 1, ""),
    ((12, 12, 3), (3, 3), 1, _SAME, 1, ""),
    ((11, 11, 13), (3, 3), 1, _SAME, 1, ""),
    ((12, 12, 24), (3, 3), 3, _SAME, 1, ""),
    ((64, 1, 16), (9, 1), 1, (4, 4, 0, 0), 1, ""),
    ((3, 3, 96), (3, 3), 1, (0, 0, 0, 0), 1, ""),
    ((8, 8, 32), (2, 2), 2, (0, 0, 0, 0), 1, ""),
    ((12, 12, 5), (3, 3), 2, _SAME, 1, ""),
    ((13, 13, 9), (3, 3), 1, _SAME, 1, ""),
    ((25, 1, 64), (3, 3), 1, _SAME, 1, ""),
    ((2, 2, 64), (3, 3), 2, _SAME, 1, ""),
    ((8, 8, 20), (3, 1), 3, (0, 0, 0, 0), 1, ""),
    ((12, 12, 40), (9, 1), 1, (4, 4, 0, 0), 1, ""),
    ((10, 10, 8), (9, 1), 1, (4, 4, 0, 0), 1, ""),
    ((20, 5, 10), (3, 3), 1, _SAME, 1, ""),
    ((8, 8, 20), (3, 3), 4, _SAME, 1, ""),
]


def layers() -> Iterator[Layer]:
    for layer in _LAYERS:
        yield _layer(*layer)
    yield _layer((12, 12, 8), (3, 3), 1, _SAME, 1, "", repeats=2)
    yield _layer((10, 10, 8), (5, 5), 2, (2, 2, 2, 2), 1, "", repeats=4)
    for image in ((25, 5, 64), (48, 48, 8), (12, 12, 64)):
        near = _layer(image, (3, 3), 1, _SAME, 1, "")
        yield replace(near, name=f"{near.name}, in the least memory", nearest=True)
    arguments = {
        "input": activation(1, 8, 8, 16, dtype="int16"),
        **weights((3, 3, 16), 16, 9),
        "stride": [1, 1],
        "padding": [1] * 4,
        "dilation": [1, 1],
        "input_zero_point": 0,
        **INT16_STAGE,
    }
    output = activation(1, 8, 8, 16, dtype="int16", name="y")
    call = OpCall("pl::depthwise_conv2d", arguments, (output,))
    yield Layer("depthwise int16 3x3, 8x8x16", call)


def _layer(
    image: tuple[int, int, int],
    kernel: tuple[int, int],
    stride: int,
    padding: Padding,
    dilation: int,
    peer: str,
    repeats: int = 1,
) -> Layer:
    (h, w, c), (kh, kw) = image, kernel
    oh = (h + padding[0] + padding[1] - dilation * (kh - 1) - 1) // stride + 1
    ow = (w + padding[2] + padding[3] - dilation * (kw - 1) - 1) // stride + 1
    arguments = {
        "input": activation(1, h, w, c),
        **weights((kh, kw, c * repeats), c * repeats, kh * kw),
        "stride": [stride, stride],
        "padding": list(padding),
        "dilation": [dilation, dilation],
        "input_zero_point": -128,
        **AFTER_RELU,
    }
    call = OpCall(
        "pl::depthwise_conv2d", arguments, (activation(1, oh, ow, c * repeats, name="y"),)
    )
    also = f" s{stride}" * (stride > 1) + f" d{dilation}" * (dilation > 1)
    times = f" times {repeats}" * (repeats > 1)
    return Layer(f"depthwise {kh}x{kw}{also}, {h}x{w}x{c}{times}", call, peer)
