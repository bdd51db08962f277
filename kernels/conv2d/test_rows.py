# SPDX-License-Identifier: Apache-2.0
"""Conditions for four windows of a row together, for several outputs."""

from typing import Any

import pytest

from kernels.common.kernel import Isa, KernelCall, OpCall
from kernels.conv2d.kernel import conv2d
from kernels.testing.calls import AFTER_RELU, WINDOW, activation, weights


def _function(
    size: int, channels: int, outputs: int, padding: int, isa: Isa = "dsp", **also: Any
) -> str:
    """Return the function for a 3x3 kernel on a square image."""
    result = (size + 2 * padding - 3) // also.get("stride", [1])[0] + 1
    arguments = {
        "input": activation(1, size, size, channels),
        **weights((outputs, 3, 3, channels), outputs, 9 * channels),
        **WINDOW,
        "padding": [padding] * 4,
        "groups": 1,
        **AFTER_RELU,
        **also,
    }
    output = activation(1, result, result, outputs, name="y")
    call = conv2d(OpCall("pl::conv2d", arguments, (output,)), isa)
    return call.function.removeprefix("pl_conv2d_")


@pytest.mark.parametrize(
    ("size", "channels", "outputs", "padding", "function"),
    [
        (7, 1, 2, 1, "rows_s8"),
        (7, 1, 3, 1, "rows_s8"),
        (40, 1, 3, 1, "rows_s8"),
        (7, 1, 4, 1, "pairs_s8"),
        (7, 1, 2, 0, "pairs_s8"),  # products take windows inside right from the image
        (8, 2, 3, 1, "rows_s8"),
        (8, 3, 2, 1, "rows_s8"),
        (8, 3, 3, 1, "pairs_s8"),
        (6, 2, 2, 1, "pairs_s8"),  # two of eight windows of a row would be computed again
        (16, 2, 2, 1, "pairs_s8"),  # one of four reaches into padding
        (16, 2, 1, 1, "rows_s8"),
    ],
)
def test_with_dsp_extension(
    size: int, channels: int, outputs: int, padding: int, function: str
) -> None:
    assert _function(size, channels, outputs, padding) == function


def test_stride() -> None:
    assert _function(14, 2, 2, 1, stride=[2, 2]) == "pairs_s8"  # 13 of 49 reach into padding
    assert _function(14, 1, 2, 1, stride=[2, 2]) == "rows_s8"


@pytest.mark.parametrize(
    ("size", "channels", "outputs", "padding", "function"),
    [
        (8, 8, 3, 1, "rows_s8"),
        (8, 1, 4, 1, "rows_s8"),
        (8, 1, 4, 0, "rows_s8"),
        (8, 3, 5, 1, "rows_s8"),
        (8, 1, 10, 1, "rows_s8"),
        (8, 4, 16, 1, "s8"),
        (8, 8, 4, 1, "s8"),
        (6, 4, 7, 1, "s8"),  # two of eight windows of a row would be computed again
    ],
)
def test_without(size: int, channels: int, outputs: int, padding: int, function: str) -> None:
    assert _function(size, channels, outputs, padding, "scalar") == function


@pytest.mark.parametrize(
    ("size", "functions"),
    [
        (6, ["rows_s8 of 1x36", "rows_s8 of 6x6", "linear_s8"]),
        (8, ["rows_s8 of 1x64", "rows_s8 of 8x8", "linear_s8"]),
        (2, ["linear_s8"]),  # eight values
    ],
)
def test_pixels_to_two_outputs(size: int, functions: list[str]) -> None:
    arguments = {
        "input": activation(1, size, size, 40),
        **weights((2, 1, 1, 40), 2, 40),
        **WINDOW,
        "groups": 1,
        **AFTER_RELU,
    }
    output = activation(1, size, size, 2, name="y")
    call: KernelCall | None = conv2d(OpCall("pl::conv2d", arguments, (output,)), "scalar")
    found = []
    while call is not None:
        size_of = "{output_h}x{output_w}".format_map(call.dims) if "output_h" in call.dims else ""
        name = call.function.removeprefix("pl_").removeprefix("conv2d_")
        found.append(f"{name} of {size_of}" if size_of else name)
        call = call.fallback
    assert found == functions
