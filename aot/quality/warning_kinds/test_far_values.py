# SPDX-License-Identifier: Apache-2.0
"""Values far from all others, and entirely hidden rows, give warnings. Similar harmless cases do
not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.lower import Lowered
from aot.quality.value import End
from aot.testing.fixtures import lower_with, model, samples

Function = Callable[..., Any]


def lowered(function: Function) -> Lowered:
    net, data = model(function, nn.Linear(12, 12), nn.Linear(12, 4)), samples((1, 6, 12), count=24)
    limits = {"min_sqnr": -math.inf, "min_agreement": 0.0}
    return lower_with(net, data[0], calibration=data, per_op=False, **limits)


def texts(function: Function, kind: str) -> list[str]:
    return [f["text"] for f in lowered(function).report["warnings"] if f["kind"] == kind]


def scores(y: torch.Tensor) -> torch.Tensor:
    return y @ y.transpose(1, 2)


def whole(y: torch.Tensor) -> torch.Tensor:
    """Return a mask of the rows whose first element is above 0.3."""
    return (y[:, :, :1] > 0.3).expand(-1, -1, 6)


FAR: dict[str, tuple[Function, str]] = {
    "an output": (lambda a, b, x: torch.where((y := a(x)) > 0.2, y, -1e4), "`where` is -10000 on"),
    "above": (lambda a, b, x: torch.where((y := a(x)) > 0.2, y, 1e6), "`where` is 1e"),
    "a logarithm": (
        lambda a, b, x: a(x).relu().clamp(min=1e-30).log(),
        r"`log` is -69.0776 on 24 calibration samples; all else is within \[-",
    ),
    "in front of a layer": (
        lambda a, b, x: b(a(x).masked_fill(x > 1.0, -torch.inf).nan_to_num(neginf=-1e4)),
        r"`where_\d` is -10000 on",
    ),
}


@pytest.mark.parametrize("name", FAR)
def test_what_is_far_from_all_else_is_named(name: str) -> None:
    function, pattern = FAR[name]
    (text,) = texts(function, "far_floor")
    assert re.search(pattern, text), text


FINE: dict[str, Function] = {
    "relu": lambda a, b, x: F.relu(a(x) - 0.5),
    "sure classes": lambda a, b, x: (b(x) * 1000.0).softmax(2),
    "a mask": lambda a, b, x: (a(x) > 0.2).float() * 3.0,
    "a gate": lambda a, b, x: F.hardsigmoid(a(x) * 8.0),
    "filled, and the largest": lambda a, b, x: a(x).masked_fill(x > 1.0, -1e9).amax(1),
    "infinite": lambda a, b, x: a(x).masked_fill(x > 1.0, -torch.inf),
}


@pytest.mark.parametrize("name", FINE)
def test_what_has_steps_is_not(name: str) -> None:
    assert not texts(FINE[name], "far_floor")


HIDDEN: dict[str, tuple[Function, int]] = {
    "filled": (lambda a, b, x: scores(y := a(x)).masked_fill(whole(y), -1e9).softmax(-1) @ y, 1),
    "added": (lambda a, b, x: (scores(y := a(x)) + whole(y).float() * -1e9).softmax(-1) @ y, 1),
    "in nested results": (
        lambda a, b, x: (
            (w := scores(y := a(x)).masked_fill(whole(y), -1e9).softmax(-1)).topk(1, -1),
            {"y": w @ y},
        ),
        1,
    ),
    "zeros": (
        lambda a, b, x: (
            scores(y := a(x)).masked_fill(whole(y), -torch.inf).softmax(-1).nan_to_num(0.0) @ y
        ),
        0,
    ),
    "torch's attention": (
        lambda a, b, x: F.scaled_dot_product_attention(y := a(x), y, y, attn_mask=~whole(y)),
        0,
    ),
    "not whole": (
        lambda a, b, x: scores(y := a(x)).masked_fill(whole(y).triu(1), -1e9).softmax(-1) @ y,
        0,
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_rows_that_are_hidden_whole_are_said_where_the_model_has_more_for_them(name: str) -> None:
    function, count = HIDDEN[name]
    found = texts(function, "hidden_rows")
    assert len(found) == count
    assert all("whole rows of the softmax `masked_softmax" in text for text in found)


def test_the_ends_of_a_value_are_those_of_all_samples() -> None:
    least, largest = End(), End(-1.0)
    for sample in ([3.0, 5.0, 5.0], [2.0, 2.0, 5.0], [], [2.0, 4.0]):
        least.add(np.array(sample, np.float32))
        largest.add(np.array(sample, np.float32))
    assert (least.at, least.count, least.next) == (2.0, 3, 3.0)
    assert (largest.at, largest.count, largest.next) == (5.0, 3, 4.0)
