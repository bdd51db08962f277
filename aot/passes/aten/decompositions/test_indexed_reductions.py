# SPDX-License-Identifier: Apache-2.0
"""Reductions by indices, and layers with computed weights, lower near the float model; reductions
of integers are equal.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from aot.lower import lower
from aot.options import Measure
from aot.testing.fixtures import model, samples

_PLACES = torch.tensor([[0, 1, 1, 3], [2, 2, 0, 0], [1, 0, 3, 3]])
_ROWS, _SOURCE = (3, 5), (3, 4)
_PART, _COLUMNS = _PLACES[1:, :3] % 3, torch.tensor([3, 1, 1, 0])
_FOUR = torch.tensor([0.5, 1.0, 2.0, 1.5])
_HOW = ("sum", "prod", "mean", "amax", "amin")

Case = tuple[Callable[..., object], tuple[int, ...], tuple[int, ...]]


def _reduced(how: str) -> Callable[..., tuple[torch.Tensor, ...]]:
    """Return a reduction by elements, by some of them, and by rows, with or without the input's own
    ones.
    """

    def rows(x: torch.Tensor, y: torch.Tensor, keeps: bool) -> torch.Tensor:
        if how == "sum":
            return x.index_add(1, _COLUMNS, y)
        return x.index_reduce(1, _COLUMNS, y, how, include_self=keeps)

    return lambda x, y: (
        *(x.scatter_reduce(1, _PLACES, y, how, include_self=keeps) for keeps in (True, False)),
        x.scatter_reduce(0, _PART, y, how),
        *(rows(x, y, keeps) for keeps in (True, False)),
    )


LAYERS: dict[str, Case] = {
    "scatter that adds": (lambda x, y: x.scatter(1, _PLACES, y, reduce="add"), _ROWS, _SOURCE),
    "scatter that multiplies": (
        lambda x, y: x.scatter(1, _PLACES, 1.5, reduce="multiply") + y[:, :1],
        _ROWS,
        _SOURCE,
    ),
    "layer_norm": (lambda x, y: F.layer_norm(x, (8,), y.exp(), y), (3, 8), (8,)),
    "group_norm": (lambda x, y: F.group_norm(x, 2, y.exp(), y), (2, 4, 6), (4,)),
    "group_norm by a weight": (lambda x, y: F.group_norm(x, 2, y.exp()), (2, 4, 6), (4,)),
    "rms_norm": (lambda x, y: F.rms_norm(x, (8,), y.exp()), (3, 8), (8,)),
    "instance_norm": (
        lambda x, y: F.instance_norm(x, weight=y.sigmoid(), bias=y),
        (2, 4, 6),
        (4,),
    ),
    "batch_norm": (
        lambda x, y: F.batch_norm(x, _FOUR - 1.0, _FOUR, y.sigmoid(), y),
        (2, 4, 6),
        (4,),
    ),
    "batch_norm of computed statistics": (
        lambda x, y: F.batch_norm(x, y, y.exp(), _FOUR),
        (2, 4, 3, 2),
        (4,),
    ),
    "prelu": (lambda x, y: F.prelu(x, y.sigmoid()), (2, 4, 6), (4,)),
    "conv_transpose1d": (
        lambda x, y: F.conv_transpose1d(x, y, stride=2, groups=2, padding=1),
        (2, 4, 6),
        (4, 3, 3),
    ),
    "avg_pool3d": (
        lambda x, y: F.avg_pool3d(x, (1, 2, 2), divisor_override=3) + y,
        (1, 2, 3, 4, 4),
        (1,),
    ),
}
CASES = {**{how: (_reduced(how), _ROWS, _SOURCE) for how in _HOW}, **LAYERS}


@pytest.mark.parametrize("name", CASES)
def test_it_lowers_near(name: str) -> None:
    function, *shapes = CASES[name]
    data = samples(*shapes, count=16)
    lower(model(function), data[0], calibration=data, measure=Measure(min_sqnr=30.0, per_op=False))


@pytest.mark.parametrize("how", _HOW)
def test_integers_are_equal(how: str) -> None:
    data = [tuple((5.0 * x).long() for x in sample) for sample in samples(_ROWS, _SOURCE, count=4)]
    _check_equal(_reduced(how), data)


def test_bytes_are_equal() -> None:
    drawn = samples(_ROWS, _SOURCE, count=4)
    data = [tuple((30.0 * x.abs()).to(torch.uint8) for x in sample) for sample in drawn]
    _check_equal(lambda x, y: (*_reduced("sum")(x, y), *_reduced("amin")(x, y)), data)


def _check_equal(
    function: Callable[..., tuple[torch.Tensor, ...]], data: list[tuple[torch.Tensor, ...]]
) -> None:
    lowered = lower(model(function), data[0], calibration=data, measure=Measure(per_op=False))
    for sample in data:
        results = lowered.reference(list(sample))
        for result, expected in zip(results, function(*sample), strict=True):
            assert torch.equal(result.long(), expected.long())


@pytest.mark.parametrize("how", _HOW)
def test_places_that_are_given(how: str) -> None:
    net = model(lambda x, y, places: x.scatter_reduce(1, places, y, how, include_self=False))
    generator = torch.Generator().manual_seed(3)
    data = [
        (x, y, torch.randint(0, 5, _SOURCE, generator=generator))
        for x, y in samples(_ROWS, _SOURCE, count=16)
    ]
    lower(net, data[0], calibration=data, measure=Measure(min_sqnr=30.0, per_op=False))
