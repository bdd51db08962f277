# SPDX-License-Identifier: Apache-2.0
"""Real values of integers, and the limits of their types."""

from __future__ import annotations

import math

import pytest
import torch

from aot.dialect.quantization import INT16, Quantization

NEAREST: list[tuple[Quantization, float, int]] = [
    (Quantization(0.5, 3), 0.0, 3),
    (Quantization(0.5, 3), 1.1, 5),
    (Quantization(0.5, 3), 1000.0, 127),
    (Quantization(0.5, 3), -1000.0, -128),
    (Quantization(0.5, 0, INT16), 1000.0, 2000),
    (Quantization(0.5, 0, INT16), -1e9, -32768),
    (Quantization(0.5, 3), math.inf, 127),
    (Quantization(0.5, 0, INT16), -math.inf, -32768),
]


@pytest.mark.parametrize("quantization, value, expected", NEAREST)
def test_nearest(quantization: Quantization, value: float, expected: int) -> None:
    assert quantization.nearest(value) == expected
    q = quantization.quantize(torch.tensor([value]))
    assert q.dtype == quantization.type.dtype and q.tolist() == [expected]


@pytest.mark.parametrize("quantization", [Quantization(0.037, -100), Quantization(0.037, 0, INT16)])
def test_every_value_comes_back(quantization: Quantization) -> None:
    every = quantization.every_value()
    assert len(every) == quantization.span + 1 == 2 ** (8 * every.element_size())
    assert torch.equal(quantization.quantize(quantization.dequantize(every)), every)


def test_limits_saturate_and_may_be_open() -> None:
    quantization = Quantization(0.1, -128)
    assert quantization.limits(None, None) == (-128, 127)
    assert quantization.limits(0.0, 6.0) == (-128, -68)
    assert quantization.limits(-1e6, 1e6) == (-128, 127)
    assert quantization.limits(1e6, None) == (127, 127)


def test_what_is_not_a_number_or_infinite() -> None:
    values = torch.tensor([math.nan, math.inf, -math.inf])
    assert Quantization(0.1, 5).quantize(values).tolist() == [5, 127, -128]
    assert Quantization(0.1, 0, INT16).quantize(values).tolist() == [0, 32767, -32768]


PROBLEMS: list[tuple[Quantization, str]] = [
    (Quantization(0.5, -128), ""),
    (Quantization(0.5, 0, INT16), ""),
    (Quantization(0.0), "a scale of 0.0"),
    (Quantization(-1.0), "a scale of -1.0"),
    (Quantization(math.nan), "a scale of nan"),
    (Quantization(math.inf), "a scale of inf"),
    (Quantization(0.5, 128), "zero_point 128, not in [-128, 127]"),
    (Quantization(0.5, 1, INT16), "zero_point 1, but torch.int16 is symmetric"),
]


@pytest.mark.parametrize("quantization, problem", PROBLEMS)
def test_problem(quantization: Quantization, problem: str) -> None:
    assert quantization.problem == problem
