# SPDX-License-Identifier: Apache-2.0
"""Calibration data of another scale than the example give a warning. Other samples do not."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from aot.lower import lower
from aot.options import Measure
from aot.testing.gestures import gesture, good, recordings

Change = Callable[[torch.Tensor], torch.Tensor]


def find_warnings(example: torch.Tensor, change: Change, count: int = 32) -> list[str]:
    data = [(change(x),) for (x,) in good()[:count]]
    result = lower(
        gesture(), (example,), calibration=data, measure=Measure(per_op=False, min_sqnr=-math.inf)
    )
    return [f["text"] for f in result.report["warnings"] if f["kind"] == "unlike_example"]


def real(seed: int = 5) -> torch.Tensor:
    sample: torch.Tensor = recordings(1, seed=seed)[0]
    return sample


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x * 100.0,
        lambda x: x / 20.0,
        lambda x: x + 10.0,
        lambda x: x - 10.0,
    ],
)
def test_data_of_another_scale_than_the_example_are_doubted(change: Change) -> None:
    (text,) = find_warnings(real(), change)
    assert text.startswith("input `input_1` is in [") and "in the calibration samples. One" in text


@pytest.mark.parametrize("seed", range(5, 10))
def test_another_sample_of_the_same_data_is_not(seed: int) -> None:
    assert not find_warnings(real(seed), lambda x: x)


@pytest.mark.parametrize(
    "example",
    [
        torch.zeros_like(real()),
        torch.ones_like(real()),
        torch.randn(real().shape, generator=torch.Generator().manual_seed(0)),
        torch.rand(real().shape, generator=torch.Generator().manual_seed(0)),
    ],
)
def test_an_example_that_is_made_up_says_nothing(example: torch.Tensor) -> None:
    assert not find_warnings(example, lambda x: x * 100.0)


def test_few_samples_are_not_compared() -> None:
    assert not find_warnings(real(), lambda x: x * 100.0, count=4)
