# SPDX-License-Identifier: Apache-2.0
"""One transpose serves a value and all values computed from it; the bits stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.passes.rewrite.share_transposes import share_transposes
from aot.passes.rewrite.sink_transposes import sink_transposes
from aot.testing.fixtures import check_pass, folded, op_counts

Function = Callable[[torch.Tensor], object]
IMAGE = (1, 4, 6, 5)


def _turned(function: Function, *dims: int) -> Function:
    """A function of a computed value and of its transpose."""
    return lambda x: function(torch.tanh(x).permute(dims))


_TO_3 = torch.ones(4, 3)

# name: function of [2, 4, 6], transposes before and after
SHARED: dict[str, tuple[Function, int, int]] = {
    "norm beside residual": (
        _turned(
            lambda y: y + F.layer_norm(y, (4,), torch.arange(4.0)).sin() @ torch.ones(4, 4), 0, 2, 1
        ),
        2,
        1,
    ),
    "two branches": (
        _turned(lambda y: (F.softmax(y, 2) @ torch.ones(4, 3), y @ torch.ones(4, 3)), 0, 2, 1),
        2,
        1,
    ),
    "read before": (
        _turned(
            lambda y: (y @ torch.ones(4, 3), y.sin() @ torch.ones(4, 3), F.softmax(y, 2).sum(2)),
            *(0, 2, 1),
        ),
        2,
        1,
    ),
    "no inverse of itself": (
        _turned(lambda y: (F.softmax(y, 2) @ torch.ones(4, 3), y @ torch.ones(4, 3)), 2, 0, 1),
        2,
        1,
    ),
    "norms alone": (
        _turned(
            lambda y: [F.layer_norm(y, (4,), torch.full((4,), w)) @ _TO_3 for w in (0.5, 1.5, 2.0)],
            *(0, 2, 1),
        ),
        3,
        1,
    ),
    "elementwise": (
        _turned(lambda y: (y.sin() @ _TO_3, y.exp().sin() @ _TO_3), 2, 0, 1),
        2,
        1,
    ),
    "twice": (
        lambda x: (
            (y := x.tanh()).transpose(1, 2) @ _TO_3,
            y.transpose(1, 2) @ _TO_3,
        ),
        2,
        1,
    ),
    "read as it is, too": (
        lambda x: (
            (y := x.tanh()).sin().transpose(1, 2) @ _TO_3,
            y.exp().transpose(1, 2) @ _TO_3,
            y,
        ),
        2,
        1,
    ),
    "of an input": (
        lambda x: (x.sin().transpose(1, 2) @ _TO_3, x.exp().transpose(1, 2) @ _TO_3),
        2,
        1,
    ),
    "some of them": (
        _turned(lambda y: (y.sin() @ _TO_3, F.softmax(y, 1) @ _TO_3, y.exp() @ _TO_3), 0, 2, 1),
        3,
        2,
    ),
}
KEPT: dict[str, Function] = {
    "one": _turned(lambda y: F.softmax(y, 2) @ torch.ones(4, 3), 0, 2, 1),
    "other orders": lambda x: (
        (y := x.tanh()).transpose(1, 2) @ torch.ones(4, 3),
        F.softmax(y, 0).transpose(0, 1) @ torch.ones(6, 3),
    ),
    "along rows": _turned(
        lambda y: (F.softmax(y, 1) @ torch.ones(4, 3), y @ torch.ones(4, 3)), 0, 2, 1
    ),
    "fewer bytes apart": _turned(
        lambda y: tuple((y * s).amax(2, keepdim=True) @ torch.ones(1, 3) for s in (1.0, -1.0)),
        *(2, 0, 1),
    ),
    "results": _turned(lambda y: (F.softmax(y, 2), y), 0, 2, 1),
    "read as it is": lambda x: (
        (y := x.tanh()).transpose(1, 2) @ torch.ones(4, 3),
        (z := F.softmax(y, 2)).transpose(1, 2) @ torch.ones(4, 3),
        z,
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_share_transposes(name: str) -> None:
    function, before, after = SHARED[name]
    graph = folded(function, shapes=[(2, 4, 6)])
    sink_transposes(graph)
    assert op_counts(graph)["pl.transpose"] == before
    check_pass(graph, share_transposes)
    assert op_counts(graph)["pl.transpose"] == after


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept(name: str) -> None:
    graph = folded(KEPT[name], shapes=[(2, 4, 6)])
    sink_transposes(graph)
    check_pass(graph, share_transposes, False)


def test_an_image_that_is_given_with_its_channels_last_and_convolved() -> None:
    """The shared transpose is known to give an image."""
    graph = folded(
        lambda conv, x: (x.permute(0, 2, 3, 1).flatten(1).cumsum(1), conv(x)),
        nn.Conv2d(4, 2, 1),
        shapes=[IMAGE],
    )
    sink_transposes(graph)
    before = op_counts(graph)["pl.transpose"]
    check_pass(graph, share_transposes)
    assert op_counts(graph)["pl.transpose"] == before - 1
