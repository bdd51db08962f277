# SPDX-License-Identifier: Apache-2.0
"""Functions of int16 that straight lines miss are named, and no others."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from aot.lower import lower
from aot.options import Measure, Quantize
from aot.testing.fixtures import model


def warned(function: Callable[[torch.Tensor], torch.Tensor], quantization: str) -> list[str]:
    generator = torch.Generator().manual_seed(0)
    data = [(torch.rand(2, 40, generator=generator) * 8 - 4,) for _ in range(16)]
    module = model(function)
    lowered = lower(
        module,
        data[0],
        calibration=data,
        quantize=Quantize(quantization=quantization),
        measure=Measure(min_sqnr=-math.inf, per_op=False),
    )
    warnings = lowered.report["warnings"]
    return [w["text"] for w in warnings if w["kind"] == "missed_lines"]


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("ceil", torch.ceil),
        ("trunc and sub", torch.frac),
        ("round", torch.round),
        ("atanh", lambda x: torch.atanh(x / 4.001)),
    ],
)
def test_a_function_that_lines_miss(
    name: str, function: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    (text,) = warned(function, "int16")
    assert name in text
    assert "straight lines between 513 places" in text
    assert warned(function, "int8") == []


@pytest.mark.parametrize(
    "function", [torch.tanh, torch.exp, torch.abs, lambda x: torch.log(x.abs() + 0.01)]
)
def test_a_function_that_lines_hold(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    assert warned(function, "int16") == []
