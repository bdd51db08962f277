# SPDX-License-Identifier: Apache-2.0
"""Dilated convolutions of few channels become dense if that takes less time."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kernels.common.kernel import Isa, KernelCall, OpCall
from kernels.common.window import Windows
from kernels.conv2d.kernel import conv2d
from kernels.testing.calls import AFTER_RELU, WINDOW, activation, constant, weights


def _call(channels: int, outputs: int, dilation: int, small: bool = False, **also: Any) -> OpCall:
    """1x3 on a row of 40 pixels, as wide before as after."""
    depth = 3 * channels // also.get("groups", 1)
    arguments = {
        "input": activation(1, 1, 40, channels),
        **weights((outputs, 1, 3, depth // 3), outputs, depth),
        **WINDOW,
        "padding": [0, 0, dilation, dilation],
        "dilation": [1, dilation],
        "groups": 1,
        **AFTER_RELU,
        **also,
    }
    output = activation(1, 1, 40, outputs, name="y")
    return OpCall("pl::conv2d", arguments, (output,), small=small)


def _form(call: KernelCall) -> tuple[str, Any, Any]:
    dilation = call.params["dilation_w"]
    return call.function.removeprefix("pl_conv2d_"), call.dims["kernel_w"], dilation


@pytest.mark.parametrize(
    ("isa", "channels", "outputs", "dilation", "form"),
    [
        ("dsp", 2, 2, 2, ("pairs_s8", 5, 1)),
        ("dsp", 2, 1, 8, ("rows_s8", 17, 1)),
        ("dsp", 4, 4, 4, ("pairs_s8", 9, 1)),
        ("dsp", 4, 4, 8, ("spread_pairs_s8", 3, 8)),
        ("dsp", 8, 8, 2, ("pairs_s8", 5, 1)),
        ("dsp", 8, 8, 4, ("spread_pairs_s8", 3, 4)),
        ("dsp", 1, 1, 2, ("rows_s8", 3, 2)),  # takes spread taps of one channel unchanged
        ("scalar", 2, 2, 8, ("rows_s8", 17, 1)),
        ("scalar", 3, 3, 4, ("rows_s8", 9, 1)),
        ("scalar", 3, 3, 8, ("spread_s8", 3, 8)),
        ("scalar", 4, 4, 2, ("rows_s8", 5, 1)),
        ("scalar", 4, 4, 4, ("spread_s8", 3, 4)),
        ("scalar", 24, 1, 16, ("spread_s8", 3, 16)),
        ("mve", 2, 2, 2, ("last_blocks_s8", 3, 2)),
    ],
)
def test_form(
    isa: Isa, channels: int, outputs: int, dilation: int, form: tuple[str, int, int]
) -> None:
    call = conv2d(_call(channels, outputs, dilation), isa)
    assert _form(call) == form
    if form[2] < dilation and call.fallback is not None:  # unchanged, in less memory
        assert _form(call.fallback)[1:] == (3, dilation)
        assert call.fallback.scratch <= call.scratch


def test_runs_without_padding() -> None:
    call = _call(3, 4, 2, padding=[0] * 4)
    call = replace(call, outputs=(activation(1, 1, 36, 4, name="y"),))
    assert _form(conv2d(call, "scalar")) == ("runs_s8", 5, 1)


@pytest.mark.parametrize("isa", ["scalar", "dsp"])
@pytest.mark.parametrize("also", [{"small": True}, {"groups": 2}])
def test_as_given(isa: Isa, also: dict[str, Any]) -> None:
    """Zeros take flash, and groups are copied one by one."""
    assert _form(conv2d(_call(4, 4, 2, **also), isa))[1:] == (3, 2)


def test_factors_without_rows() -> None:
    """If a factor does not divide, a core without the DSP extension has no faster form."""
    shift = constant([1, 1], "int32")
    assert _form(conv2d(_call(2, 2, 2, shift=shift), "scalar")) == ("spread_s8", 3, 2)


@pytest.mark.parametrize("padding", [(0, 0, 0, 0), (1, 2, 3, 5)])
def test_zeros_give_nothing(padding: tuple[int, int, int, int]) -> None:
    values = np.random.default_rng(1)
    weight = values.integers(-127, 128, (4, 2, 3, 2)).astype(np.int8)
    image = values.integers(-128, 128, (7, 16, 2))
    padded = np.pad(image, (padding[:2], padding[2:], (0, 0)), constant_values=5)
    size = padded.shape[0] - 2, (padded.shape[1] - 6 - 1) // 2 + 1
    windows = Windows(1, (7, 16), 2, (2, 3), (1, 2), padding, (2, 3), size)
    dense, dense_weight = windows.with_zero_taps(weight)
    assert (dense.kernel, dense.dilation, dense.output) == ((2, 7), (2, 1), size)
    assert dense.padding == padding
    assert (dense.are_inside, dense.starts.tolist()) == (
        windows.are_inside,
        windows.starts.tolist(),
    )
    for y, x in np.ndindex(*size):
        at = padded[y : y + 3 : 2, 2 * x :]
        expected = np.einsum("okwc,kwc->o", weight.astype(int), at[:, 0:7:3])
        sums = np.einsum("okwc,kwc->o", dense_weight.astype(int), at[:, :7])
        assert sums.tolist() == expected.tolist()
