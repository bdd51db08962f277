# SPDX-License-Identifier: Apache-2.0
"""Layers give their outputs in the order of their readers; the bits stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from aot.passes.rewrite.fold_transpose_into_outputs import fold_transpose_into_outputs
from aot.passes.rewrite.sink_transposes import sink_transposes
from aot.testing.fixtures import check_pass, folded, op_counts

Function = Callable[..., object]


def _image(x: torch.Tensor) -> torch.Tensor:
    return x.view(2, 3, 4, 2)


def _read(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Read x with a convolution whose result is the same in any order of dimensions."""
    y: torch.Tensor = layer(x)
    return y.mean((2, 3)) if y.dim() == 4 else y.mean(2)


LINEAR, CONV, LINE = nn.Linear(5, 24), nn.Conv2d(3, 2, 2), nn.Conv1d(3, 2, 2)
TURNED = nn.ConvTranspose2d(3, 2, 2, 2)
# function of [2, 5] and of layers
TAKEN: dict[str, tuple[Function, list[nn.Module]]] = {
    "an image": (lambda a, b, x: _read(b, _image(a(x))), [LINEAR, CONV]),
    "an image that grows": (lambda a, b, x: _read(b, _image(a(x).relu())), [LINEAR, TURNED]),
    "a signal": (lambda a, b, x: _read(b, a(x).view(2, 3, 8)), [LINEAR, LINE]),
    "tables between": (
        lambda a, b, x: _read(b, torch.tanh(_image(torch.sigmoid(a(x))))),
        [LINEAR, CONV],
    ),
    "of several rows": (
        lambda a, b, x: a(x.reshape(2, 5, 1)).reshape(10, 3, 8).mT.tanh(),
        [nn.Linear(1, 24), CONV],
    ),
}
KEPT: dict[str, tuple[Function, list[nn.Module]]] = {
    "read by others": (lambda a, b, x: (_read(b, _image(y := a(x))), y.exp()), [LINEAR, CONV]),
    "read by others behind a table": (
        lambda a, b, x: (_read(b, _image(y := a(x).tanh())), y.exp()),
        [LINEAR, CONV],
    ),
    "another row": (lambda a, b, x: a(x).reshape(3, 16).mT.tanh(), [LINEAR, CONV]),
    "rows": (lambda a, b, x: a(x).mT.tanh(), [LINEAR, CONV]),
    "a given value": (lambda a, b, x: x.reshape(2, 5, 1).mT.repeat(1, 3, 1), [LINEAR, CONV]),
    "groups": (
        lambda a, b, x: b(x[:, :4].reshape(2, 4, 1, 1)).view(2, 2, 2).mT.tanh(),
        [LINEAR, nn.Conv2d(4, 4, 1, groups=2)],
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_fold_transpose_into_outputs(name: str) -> None:
    function, layers = TAKEN[name]
    graph = folded(function, *layers, shapes=[(2, 5)])
    sink_transposes(graph)
    assert op_counts(graph)["pl.transpose"] == 1
    check_pass(graph, fold_transpose_into_outputs)
    assert "pl.transpose" not in op_counts(graph)


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept(name: str) -> None:
    function, layers = KEPT[name]
    graph = folded(function, *layers, shapes=[(2, 5)])
    sink_transposes(graph)
    check_pass(graph, fold_transpose_into_outputs, changes=False)
