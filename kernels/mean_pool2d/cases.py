# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::mean_pool2d."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernels.common.kernel import INT8_MAX, INT8_MIN, OpCall
from kernels.testing.calls import activation
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.pool_windows import adaptive_windows, windows
from kernels.testing.values import Values

_OP = "pl::mean_pool2d"
_ONE = {"multiplier": 2**30, "shift": -5}


def _layouts() -> Iterator[tuple[str, tuple[int, ...], dict[str, Any], bool]]:
    """Yield name, input shape, window arguments, also on boards."""
    for name, shape, window, board in windows(200, dilation=False):
        yield name, shape, {**window, "parts": [1, 1]}, board
    for name, kernel in (("300 taps", (3, 100)), ("a long row", (1, 300)), ("rows", (300, 1))):
        shape = (1, kernel[0] + 1, kernel[1] + 1, 9)
        window = {"kernel": list(kernel), "stride": [1, 1], "padding": [0] * 4}
        yield name, shape, {**window, "parts": [1, 1], "output_size": [2, 2]}, name == "300 taps"
    for name, shape, size, board in adaptive_windows(60):
        whole = {"kernel": list(shape[1:3]), "stride": list(shape[1:3]), "parts": size}
        yield f"adaptive {name}", shape, {**whole, "padding": [0] * 4, "output_size": size}, board


def cases() -> Iterator[Case]:
    for name, shape, window, board in _layouts():
        for wide in (False, True):
            values = Values("mean_pool2d", name, int(wide))
            kinds = (
                [values.int16, values.extreme_int16]
                if wide
                else [values.int8, values.int8, values.extreme_int8]
            )
            given = values.choice(kinds)(*shape)
            by_count = name == "every tie" or values.choice([True, True, False])
            multiplier, shift = values.factor((1.0 if by_count else 0.25) / (1 if wide else 64))
            attributes = {
                **window,
                "by_count": by_count,
                "count_include_pad": values.choice([True, False]),
                "input_zero_point": 0 if wide else values.zero_point(),
                "output_zero_point": 0 if wide else values.zero_point(),
                "multiplier": multiplier,
                "shift": shift,
            }
            if name == "every tie":
                attributes |= _ONE
            title = f"int16 {name}" if wide else name
            yield Case(title, _OP, {"input": given}, attributes=attributes, board=board)
    yield from _of_small_factors()
    yield from _of_long_windows()


def _of_small_factors() -> Iterator[Case]:
    """Yield cases with results at the zero point, or one step from it."""
    window = {"kernel": [3, 3], "stride": [1, 1], "parts": [1, 1], "padding": [0] * 4}
    for by_count in (False, True):
        for shift in (-31, -30, -22, -21, -20):
            name = f"shift {shift}, {'by count' if by_count else 'not by count'}"
            values = Values("mean_pool2d", name)
            attributes = {
                **window,
                "output_size": [3, 3],
                "by_count": by_count,
                "count_include_pad": True,
                "input_zero_point": -128,
                "output_zero_point": 100,
                "multiplier": 2**31 - 1,
                "shift": shift,
            }
            given = values.extreme_int8(1, 5, 5, 13)
            yield Case(name, _OP, {"input": given}, attributes=attributes, board=shift == -31)


def _of_long_windows() -> Iterator[Case]:
    """Yield the largest window sums around the limits of the kernels."""
    for taps in (127, 128, 255, 256):
        for zero_point, other in ((INT8_MAX, INT8_MIN), (INT8_MIN, INT8_MAX)):
            attributes = {
                "kernel": [1, taps],
                "stride": [1, 1],
                "parts": [1, 1],
                "padding": [0] * 4,
                "output_size": [1, 1],
                "by_count": False,
                "count_include_pad": True,
                "input_zero_point": zero_point,
                "output_zero_point": 0,
                "multiplier": 2**31 - 1,
                "shift": -14 if taps < 200 else -15,
            }
            given = np.full((1, 1, taps, 21), other, np.int8)
            name = f"{taps} times {other}, zero point {zero_point}"
            yield Case(name, _OP, {"input": given}, attributes=attributes, board=taps in (128, 255))


def _call(
    shape: tuple[int, ...], size: tuple[int, int], window: dict[str, Any], zero_point: int = 0
) -> OpCall:
    arguments = {
        "input": activation(*shape),
        **window,
        "padding": [0] * 4,
        "output_size": list(size),
        "count_include_pad": True,
        "input_zero_point": zero_point,
        "output_zero_point": zero_point,
        "multiplier": 1100000000,
    }
    return OpCall(_OP, arguments, (activation(shape[0], *size, shape[3], name="y"),))


_EVEN = {"kernel": [2, 2], "stride": [2, 2], "parts": [1, 1], "by_count": False, "shift": -7}


def _adaptive(size: int, count: int) -> dict[str, Any]:
    whole = [size, size]
    parts = [count, count]
    return {"kernel": whole, "stride": whole, "parts": parts, "by_count": True, "shift": -5}


CALLS = [
    Valid(
        _call((1, 4, 4, 2), (2, 2), _EVEN),
        refused=[
            ({"kernel": [0, 2]}, "kernel is .* at least 1"),
            ({"parts": [0, 2]}, "parts is .* at least 1"),
            ({"stride": [8, 2]}, "window 1 along the rows has no tap inside"),
            ({"kernel": [2**8, 2**8]}, "a sum of 65536 int8 values overflows int32"),
            ({"input_zero_point": -129}, "input_zero_point is -129"),
            ({"output_zero_point": 128}, "output_zero_point is 128"),
            ({"multiplier": -1}, "multiplier"),
        ],
    ),
]

_WINDOWS = "mean_pool2d/windows.h"
MUTANTS = [
    Mutant(_WINDOWS, "end + axis->parts - 1", "end"),
    Mutant(_WINDOWS, "axis->include_pad ? end - begin : taps", "taps"),
    Mutant(_WINDOWS, "end < axis->size + axis->after ? end : axis->size + axis->after", "end"),
    Mutant(_WINDOWS, "bits < room && ", ""),
    Mutant(_WINDOWS, "(whole << bits) + (rest << bits) / count", "whole"),
    Mutant(_WINDOWS, "params->shift - (int32_t)bits", "params->shift"),
    Mutant(_WINDOWS, "-params->input_zero_point * y.taps * x.taps", "0"),
    Mutant("mean_pool2d/mean_pool2d_s16.c", "y.begin * row_size", "0"),
    Mutant("common/mean_window_s8_scalar.c", "(twice_zero_point + 1)", "0"),
    Mutant("common/mean_window_s8_scalar.c", " + (sum >> 31)", ""),
    Mutant("common/mean_window_s8_scalar.c", " + (1 << 24)", ""),
    Mutant("common/mean_window_s8.h", "stage->shift >= -20", "1"),
]


def layers() -> Iterator[Layer]:
    call = _call((1, 16, 16, 16), (8, 8), _EVEN, -128)
    yield Layer("mean_pool 2x2, 16x16x16", call)
    call = _call((1, 12, 12, 7), (6, 6), _EVEN, -128)
    yield Layer("mean_pool 2x2, 12x12x7", call)
    call = _call((1, 16, 16, 3), (8, 8), _EVEN, -128)
    yield Layer("mean_pool 2x2, 16x16x3", call)
    call = _call((1, 16, 16, 16), (7, 7), _adaptive(16, 7), -128)
    yield Layer("mean_pool 16x16x16 to 7x7", call)
