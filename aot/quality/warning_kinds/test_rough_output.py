# SPDX-License-Identifier: Apache-2.0
"""Outputs that pass but are far from float give a warning, with the op that loses most."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import nn

from aot.lower import Lowered
from aot.testing.fixtures import lower_with, model, samples

Function = Callable[..., torch.Tensor]


def lowered(function: Function) -> Lowered:
    net, data = model(function, nn.Linear(12, 12), nn.Linear(12, 4)), samples((1, 6, 12), count=24)
    limits = {"min_sqnr": -math.inf, "min_agreement": 0.0, "per_op": False}
    return lower_with(net, data[0], calibration=data, **limits)


def texts(function: Function) -> list[str]:
    warnings = lowered(function).report["warnings"]
    return [w["text"] for w in warnings if w["kind"] == "rough_output"]


STEEP: dict[str, tuple[Function, str]] = {
    "a pole": (lambda a, b, x: b(torch.digamma(a(x))), "digamma"),
    "a jump": (lambda a, b, x: b(torch.sign(a(x) - 0.1)), "sign"),
}


@pytest.mark.parametrize("name", STEEP)
def test_the_op_that_loses_most_is_named(name: str) -> None:
    function, op = STEEP[name]
    (text,) = texts(function)
    assert f"`{op}` at " in text and "it is steep there" in text


def test_an_output_with_no_such_op_is_named_alone() -> None:
    (text,) = texts(lambda a, b, x: torch.where(a(x) > 0.9, 30.0, 1.0) * b(x).amax(2, True))
    assert "less than the 25 dB" in text


def test_outputs_near_float_have_none() -> None:
    assert texts(lambda a, b, x: b(torch.logit(a(x).sigmoid()))) == []
