# SPDX-License-Identifier: Apache-2.0
"""Reductions by indices, and layers with computed weights, lower near the float model."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from aot.lower import lower
from aot.testing.fixtures import model, samples

_PLACES = torch.tensor([[0, 1, 1, 3], [2, 2, 0, 0], [1, 0, 3, 3]])
_ROWS, _SOURCE = (3, 5), (3, 4)

Case = tuple[Callable[..., torch.Tensor], tuple[int, ...], tuple[int, ...]]


def _reduced(how: str, keeps: bool) -> Case:
    return (
        lambda x, y: x.scatter_reduce(1, _PLACES, y, how, include_self=keeps),
        _ROWS,
        _SOURCE,
    )


CASES: dict[str, Case] = {
    **{
        f"{how}{' of others' * (not keeps)}": _reduced(how, keeps)
        for how in ("sum", "mean", "amax", "amin")
        for keeps in (True, False)
    },
    "scatter that adds": (lambda x, y: x.scatter(1, _PLACES, y, reduce="add"), _ROWS, _SOURCE),
    "layer_norm": (lambda x, y: F.layer_norm(x, (8,), y.exp(), y), (3, 8), (8,)),
    "group_norm": (lambda x, y: F.group_norm(x, 2, y.exp(), y), (2, 4, 6), (4,)),
    "group_norm by a weight": (lambda x, y: F.group_norm(x, 2, y.exp()), (2, 4, 6), (4,)),
    "prelu": (lambda x, y: F.prelu(x, y.sigmoid()), (2, 4, 6), (4,)),
}


@pytest.mark.parametrize("name", CASES)
def test_it_lowers_near(name: str) -> None:
    function, *shapes = CASES[name]
    data = samples(*shapes, count=16)
    lower(model(function), data[0], calibration=data, min_sqnr=30.0, per_op=False)


@pytest.mark.parametrize("how", ["sum", "mean", "amax", "amin"])
def test_places_that_are_given(how: str) -> None:
    net = model(lambda x, y, places: x.scatter_reduce(1, places, y, how, include_self=False))
    generator = torch.Generator().manual_seed(3)
    data = [
        (x, y, torch.randint(0, 5, _SOURCE, generator=generator))
        for x, y in samples(_ROWS, _SOURCE, count=16)
    ]
    lower(net, data[0], calibration=data, min_sqnr=30.0, per_op=False)
