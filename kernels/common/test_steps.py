# SPDX-License-Identifier: Apache-2.0
"""Last stages as step functions, and pairs of taps, against requantize.h."""

import numpy as np
import pytest

from kernels.common.kernel import AnyArray, KernelCall, OpCall, Value
from kernels.common.quantization import requantize
from kernels.common.steps import Steps, requantized
from kernels.linear.kernel import linear

_RANDOM = np.random.default_rng(1)


def _as_the_kernels(x: AnyArray, steps: Steps, channel: int, low: int, top: int) -> AnyArray:
    s = x - steps.first[channel]
    total = s * steps.high[channel] + ((s >> 5) * steps.fine[channel] >> 11)
    total += steps.offset[channel] - np.where(s < steps.turn[channel], steps.less[channel], 0)
    byte = total % 2**32 >> 24
    inside = (byte + 128) % 256 - 128
    outside = np.where(s < 0, low, top)
    result: AnyArray = np.where(s % 2**32 > steps.limit[channel], outside, inside)
    return result


@pytest.mark.parametrize("zero_point", [-128, -127, -3, 90, 127])
@pytest.mark.parametrize(("low", "top"), [(-128, 127), (-128, 60), (-100, 100), (3, 4)])
def test_all_results_are_those_of_requantize(zero_point: int, low: int, top: int) -> None:
    shift = np.repeat(np.arange(-1, -13, -1), 2)
    multiplier = _RANDOM.integers(2**30, 2**31, len(shift))
    solved = 0
    for m, s in zip(multiplier, shift, strict=True):
        steps = Steps.of(np.array([m]), np.array([s]), zero_point, low, top)
        if steps is None:
            continue
        solved += 1
        near = np.arange(-1000, 1000) + int(steps.first[0])
        ends = np.array([-(2**30), 2**30])
        x = np.concatenate([_RANDOM.integers(-(2**21), 2**21, 4000), near, ends])
        expected = np.clip(requantized(x, m, s) + zero_point, low, top)
        assert np.array_equal(_as_the_kernels(x, steps, 0, low, top), expected)
    assert solved >= 20


def test_requantized_is_requantize() -> None:
    for shift in (-31, -7, -1, 0, 3, 30):
        x = _RANDOM.integers(-(2**31), 2**31, 500)
        m = _RANDOM.integers(2**30, 2**31, 500)
        found = requantized(x, m, np.full(500, shift))
        assert found.tolist() == [
            requantize(int(a), int(b), shift) for a, b in zip(x, m, strict=True)
        ]


def test_a_factor_of_zero_has_one_result() -> None:
    steps = Steps.of(np.array([0]), np.array([0]), 5, -128, 127)
    assert steps is not None
    x = np.array([-(2**30), -1, 0, 1, 2**30])
    assert set(_as_the_kernels(x, steps, 0, -128, 127).tolist()) == {5}


def test_small_factors_have_no_constants() -> None:
    assert Steps.of(np.array([2**30]), np.array([-16]), -128, -128, 127) is None


def _call(weight: AnyArray, shift: int = -6, small: bool = False) -> KernelCall:
    channels, depth = weight.shape
    vectors = {"bias": 0, "multiplier": 2**30, "shift": shift}
    arguments = {
        "input": Value("x", "int8", (6, depth)),
        "weight": Value("w", "int8", weight.shape, weight),
        **{
            n: Value(n, "int32", (channels,), np.full(channels, v, np.int32))
            for n, v in vectors.items()
        },
        "input_zero_point": 0,
        "output_zero_point": -128,
        "activation_min": -128,
        "activation_max": 127,
    }
    call = OpCall("pl::linear", arguments, (Value("y", "int8", (6, channels)),), small=small)
    return linear(call, "thumb1")


def test_taps_are_used_where_they_are_exact() -> None:
    weight = np.full((4, 16), -128, np.int8)
    weight[:, 2::4] = weight[:, 3::4] = -127
    assert _call(weight).function == "pl_linear_taps_s8"
    assert _call(weight, shift=-20).function == "pl_linear_s8"
    assert _call(weight, small=True).function == "pl_linear_s8"
    weight[3, 2] = -128  # with tap 0 a pair
    assert _call(weight).function == "pl_linear_s8"


def test_the_last_fallback_call_takes_no_scratch() -> None:
    """The least arena is that of pl_linear_s8."""
    found: KernelCall | None = _call(np.ones((64, 64), np.int8))
    taken = []
    while found is not None:
        taken.append((found.function, found.scratch))
        found = found.fallback
    assert [name for name, _ in taken][:-1] == ["pl_linear_taps_s8"] * (len(taken) - 1)
    assert taken[-1] == ("pl_linear_s8", 0)
    assert [size for _, size in taken] == sorted({size for _, size in taken}, reverse=True)
