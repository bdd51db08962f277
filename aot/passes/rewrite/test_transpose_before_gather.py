# SPDX-License-Identifier: Apache-2.0
"""Fewer elements are transposed where a gather makes more of them; the bits stay."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.artefact.artefact import rewrite
from aot.dialect.graph import calls
from aot.passes.rewrite.sink_transposes import sink_transposes
from aot.passes.rewrite.transpose_before_gather import transpose_before_gather
from aot.testing.fixtures import check_pass, folded, op_counts

Function = Callable[..., object]
IMAGE = (1, 4, 3, 5)
twice = partial(F.interpolate, scale_factor=2)

# function of a layer and of an image; elements then transposed before the layer
MOVED: dict[str, tuple[Function, nn.Module, int]] = {
    "upsampling": (lambda a, x: a(twice(x)), nn.Conv2d(4, 2, 3), 60),
    "twice": (lambda a, x: a(twice(twice(x))), nn.Conv2d(4, 2, 3), 60),
    "one dimension": (
        lambda a, x: a(F.interpolate(x, scale_factor=(1, 3))),
        nn.Conv2d(4, 2, 3),
        60,
    ),
    "tiles": (lambda a, x: a(x.repeat(1, 2, 2, 1)), nn.Conv2d(8, 2, 3), 60),
    "a line": (lambda a, x: a(twice(x.flatten(2))), nn.Conv1d(4, 2, 3), 60),
    "another order": (lambda a, x: a(twice(x).squeeze(0).permute(2, 0, 1)), nn.Linear(6, 2), 60),
}
KEPT: dict[str, tuple[Function, nn.Module]] = {
    "no more than there is": (lambda a, x: a(x.flip(2)), nn.Conv2d(4, 2, 3)),
    "read by others": (lambda a, x: (a(y := twice(x)), y.exp()), nn.Conv2d(4, 2, 3)),
    "no gather": (lambda a, x: a(x.tanh()), nn.Conv2d(4, 2, 3)),
    "no transpose": (lambda a, x: a(twice(x)), nn.Linear(10, 2)),
}


def _transposed(graph: GraphModule) -> list[int]:
    nodes = [node for node in graph.graph.nodes if calls(node, "transpose")]
    return [node.meta["val"].numel() for node in nodes]


@pytest.mark.parametrize("name", MOVED)
def test_transpose_before_gather(name: str) -> None:
    function, layer, elements = MOVED[name]
    graph = folded(function, layer, shapes=[IMAGE])
    sink_transposes(graph)
    assert _transposed(graph)[0] > elements
    check_pass(graph, transpose_before_gather)
    assert _transposed(graph)[0] == elements


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept(name: str) -> None:
    function, layer = KEPT[name]
    graph = folded(function, layer, shapes=[IMAGE])
    sink_transposes(graph)
    check_pass(graph, transpose_before_gather, changes=False)


def test_a_layer_makes_the_image_as_it_is_read() -> None:
    graph = folded(
        lambda a, b, x: b(twice(a(x).view(2, 3, 4, 2))).mean((2, 3)),
        nn.Linear(5, 24),
        nn.Conv2d(3, 2, 3),
        shapes=[(2, 5)],
    )

    def all_of_them(graph: GraphModule) -> int:
        rewrite(graph)
        return 1

    check_pass(graph, all_of_them)
    counts = op_counts(graph)
    assert counts["pl.gather"] == 1
    assert "pl.transpose" not in counts
