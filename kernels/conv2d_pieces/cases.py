# SPDX-License-Identifier: Apache-2.0
"""Cases of plan::conv2d_pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.common.kernel import OpCall
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
from kernels.testing.convolutions import random_window
from kernels.testing.values import Values, spread

if TYPE_CHECKING:
    import torch

Piece = tuple[int, int, int]
"""Channels, and the shifts of rows and columns."""

# name, image HW, pieces, kernel OHW, and differences from stride 1, no padding, no dilation
_NAMED: list[tuple[str, tuple[int, int], Sequence[Piece], tuple[int, int, int], dict[str, Any]]] = [
    (
        "U-Net's",
        (6, 8),
        [(5, 1, 1), (3, 0, 0)],
        (4, 3, 3),
        {"padding": [1, 1, 1, 1], "board": True},
    ),
    ("two images", (5, 7), [(4, 0, 0), (16, 0, 0)], (5, 3, 3), {"board": True}),
    ("four images", (4, 4), [(3, 0, 0), (1, 2, 2), (2, 1, 0), (7, 0, 1)], (6, 2, 3), {}),
    ("pixels", (4, 6), [(16, 1, 1), (16, 0, 0)], (9, 1, 1), {"board": True}),
    ("one piece", (8, 4), [(6, 2, 1)], (3, 3, 3), {"padding": [1] * 4}),
    ("sequences", (1, 12), [(5, 0, 2), (4, 0, 0)], (6, 1, 3), {"padding": [0, 0, 1, 1]}),
    (
        "stride and dilation",
        (12, 8),
        [(4, 2, 2), (5, 0, 0)],
        (4, 3, 2),
        {"stride": [3, 2], "dilation": [2, 3], "padding": [2, 3, 0, 2], "board": True},
    ),
    (
        "padding wider than the kernel",
        (2, 2),
        [(3, 1, 1), (2, 0, 0)],
        (5, 2, 2),
        {"padding": [3] * 4},
    ),
    ("deep", (4, 4), [(64, 1, 1), (32, 0, 0)], (9, 3, 3), {"padding": [1] * 4}),
    ("factors that multiply", (4, 6), [(3, 1, 1), (2, 0, 0)], (5, 3, 3), {"times": 64.0}),
    ("sums of 31 bits", (4, 6), [(4, 1, 1), (2, 0, 0)], (5, 3, 3), {"bias": 2**30, "board": True}),
]


def reference(
    *, inputs: Sequence[torch.Tensor], shifts: Sequence[int], **rest: Any
) -> torch.Tensor:
    import torch  # here: the bench and others read the cases of all kernels, without their results

    repeated = [
        value.repeat_interleave(1 << h, 1).repeat_interleave(1 << w, 2)
        for value, h, w in zip(inputs, shifts[::2], shifts[1::2], strict=True)
    ]
    result: torch.Tensor = torch.ops.pl.conv2d(input=torch.cat(repeated, 3), groups=1, **rest)
    return result


def cases() -> Iterator[Case]:
    for name, image, pieces, kernel, options in _NAMED:
        yield _case(name, image, pieces, kernel, options)
    for index in range(120):
        values = Values("conv2d_pieces", index)
        (kh, kw), (h, w), options = random_window(values)
        shifts = [(values.integer(0, 2), values.integer(0, 2)) for _ in range(values.integer(1, 3))]
        image = -(-h // 4) * 4, -(-w // 4) * 4
        pieces = [(values.integer(1, 9), *shift) for shift in shifts]
        kernel = (values.integer(1, 9), kh, kw)
        yield _case(f"random {index}", image, pieces, kernel, {**options, "board": index % 16 == 0})


def _case(
    name: str,
    image: tuple[int, int],
    pieces: Sequence[Piece],
    kernel: tuple[int, int, int],
    options: dict[str, Any],
) -> Case:
    values = Values("conv2d_pieces", name)
    inputs = [values.int8(1, image[0] >> h, image[1] >> w, c) for c, h, w in pieces]
    weight = np.maximum(values.int8(*kernel, sum(c for c, _, _ in pieces)), -127)
    depth = weight[0].size
    low, high = values.activation()
    given = {
        "stride": [1, 1],
        "padding": [0] * 4,
        "dilation": [1, 1],
        **{
            name: value for name, value in options.items() if name not in ("bias", "board", "times")
        },
    }
    attributes = {
        "shifts": [shift for _, h, w in pieces for shift in (h, w)],
        **given,
        "input_zero_point": values.zero_point(),
        "output_zero_point": values.zero_point(),
        "activation_min": low,
        "activation_max": high,
    }
    constants = {
        "weight": weight,
        "bias": values.int32(options.get("bias", 64 * depth), kernel[0]),
        **values.factors(options.get("times", 1.0) * spread(depth), kernel[0]),
    }
    board = options.get("board", False)
    return Case(
        name,
        "plan::conv2d_pieces",
        {"inputs": inputs},
        constants,
        attributes,
        board,
        reference=reference,
    )


CALLS = [
    Valid(
        OpCall(
            "plan::conv2d_pieces",
            {
                "inputs": [activation(1, 2, 3, 5), activation(1, 4, 6, 1, name="z")],
                "shifts": [1, 1, 0, 0],
                "weight": constant(np.ones((8, 3, 3, 6))),
                **per_channel(8),
                **WINDOW,
                **STAGE,
            },
            (activation(1, 2, 4, 8, name="y"),),
        ),
        refused=[
            ({"shifts": [0, 0, 0, 0]}, "the inputs are images of"),
            ({"shifts": [1, 1, 0]}, "shifts has 3 items, not 4"),
            ({"shifts": [16, 1, 0, 0]}, "the most is 15"),
            ({"inputs": [activation(2, 2, 3, 6)], "shifts": [0, 0]}, "not that of one image"),
            ({"inputs": [activation(1, 4, 6, 7)], "shifts": [0, 0]}, "with 7 input channels"),
            ({"padding": [1, 1, 1, 1]}, "output has shape .* it should be"),
            ({"bias": constant([2**31 - 1] * 8, "int32")}, "overflow int32"),
        ],
    ),
]

MUTANTS = [
    Mutant("conv2d_pieces/windows_of_pieces.h", "dims->input_w >> piece->shift_w", "dims->input_w"),
    Mutant("conv2d_pieces/windows_of_pieces.h", "top >> piece->shift_h", "top"),
    Mutant("conv2d_pieces/windows_of_pieces.h", "start > 0 ? start : 0", "start"),
    Mutant("conv2d_pieces/windows_of_pieces.h", "y += params->dilation_h", "++y"),
    Mutant("conv2d_pieces/windows_of_pieces.h", "x += params->dilation_w", "++x"),
    Mutant("conv2d_pieces/windows_of_pieces.h", "is_inside && x >= 0", "is_inside"),
    Mutant("conv2d_pieces/windows_of_pieces.h", "to += dims->input_c", "to += channels"),
    Mutant("conv2d_pieces/windows_of_pieces.h", "ox * params->stride_w", "ox * params->stride_h"),
    Mutant(  # from the last row to the first
        "conv2d_pieces/windows_of_pieces.h",
        "const int32_t y = start + oy * params->stride_h;",
        "const int32_t back = dims->output_h - 1 - oy; "
        "output = data->output + back * dims->output_w * dims->output_c; "
        "const int32_t y = start + back * params->stride_h;",
    ),
    Mutant(  # pixels are written before all of their windows are read
        "conv2d_pieces/windows_of_pieces.h",
        "pl_copy_columns_of_piece(params,",
        "functions->fill(output, 0, windows * dims->output_c); pl_copy_columns_of_piece(params,",
    ),
]


def layers() -> Iterator[Layer]:
    for size, pieces, channels in (
        (24, [(64, 1, 1), (32, 0, 0)], 32),
        (96, [(16, 1, 1), (8, 0, 0)], 8),
        (12, [(8, 0, 0), (8, 0, 0), (8, 0, 0), (8, 0, 0)], 8),
    ):
        depth = 9 * sum(c for c, _, _ in pieces)
        arguments = {
            "inputs": [
                activation(1, size >> h, size >> w, c, name=f"x{index}")
                for index, (c, h, w) in enumerate(pieces)
            ],
            "shifts": [shift for _, h, w in pieces for shift in (h, w)],
            **weights((channels, 3, 3, depth // 9), channels, depth),
            "stride": [1, 1],
            "padding": [1] * 4,
            "dilation": [1, 1],
            "input_zero_point": -128,
            **AFTER_RELU,
        }
        output = activation(1, size, size, channels, name="y")
        text = " and ".join(
            f"{c}{f' of {size >> h}x{size >> w}' if h else ''}" for c, h, w in pieces
        )
        name = f"conv 3x3 of pieces, {size}x{size}, {text} to {channels}"
        yield Layer(name, OpCall("plan::conv2d_pieces", arguments, (output,)))
