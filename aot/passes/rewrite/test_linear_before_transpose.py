# SPDX-License-Identifier: Apache-2.0
"""Layers read rows in memory order, and inverse transposes meet; the bits stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.artefact.artefact import rewrite
from aot.dialect.graph import calls
from aot.passes.rewrite.linear_before_transpose import linear_before_transpose
from aot.testing.fixtures import check_pass, folded, op_counts

Function = Callable[..., object]

HEADS = (2, 3, 4, 5)
"""Samples, heads, positions, and the width of a head."""


def _joined(x: torch.Tensor) -> torch.Tensor:
    """Rows of all heads, position by position, as torch's attention has them."""
    return x.tanh().permute(2, 0, 1, 3).reshape(8, 15)


# name: function of a layer of 15 and of heads; transposes before, after the pass, and in the end
MOVED: dict[str, tuple[Function, int, int, int]] = {
    "undone behind": (
        lambda a, x: a(_joined(x)).view(4, 2, 15).transpose(0, 1).tanh(),
        *(2, 3, 0),
    ),
    "undone behind other layers": (
        lambda a, x: a(F.relu(a(_joined(x)))).view(4, 2, 15).transpose(0, 1).tanh(),
        *(2, 3, 0),
    ),
    "beside a residual": (
        lambda a, x: (
            a(_joined(x)).view(4, 2, 15).transpose(0, 1) + x.sin().transpose(1, 2).reshape(2, 4, 15)
        ),
        *(3, 4, 1),
    ),
    "not undone": (lambda a, x: a(_joined(x)).tanh(), 1, 2, 1),
    "rows alone": (
        lambda a, x: (
            a(x.tanh().reshape(2, 12, 5).repeat(1, 1, 3).transpose(0, 1).reshape(24, 15))
            .view(12, 2, 15)
            .transpose(0, 1)
            .tanh()
        ),
        *(2, 2, 0),
    ),
}
KEPT: dict[str, Function] = {
    "in the order that they have": lambda a, x: a(x.tanh().transpose(1, 2).reshape(8, 15)),
    "what is no transpose": lambda a, x: a(
        x.tanh().permute(2, 0, 1, 3).reshape(8, 15).reshape(15, 8).mT.reshape(8, 15)
    ),
    "columns": lambda a, x: a(x.tanh().reshape(2, 15, 4).mT),
}


@pytest.mark.parametrize("name", MOVED)
def test_rows_behind_linear(name: str) -> None:
    function, before, moved, _ = MOVED[name]
    graph = folded(function, nn.Linear(15, 15), shapes=[HEADS])
    assert op_counts(graph)["pl.transpose"] == before
    check_pass(graph, linear_before_transpose)
    assert op_counts(graph)["pl.transpose"] == moved


@pytest.mark.parametrize("name", MOVED)
def test_what_is_copied_in_the_end(name: str) -> None:
    function, *_, after = MOVED[name]
    graph = folded(function, nn.Linear(15, 15), shapes=[HEADS])

    def all_of_them(graph: GraphModule) -> int:
        rewrite(graph)
        return 1

    check_pass(graph, all_of_them)
    assert op_counts(graph).get("pl.transpose", 0) == after


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept(name: str) -> None:
    graph = folded(KEPT[name], nn.Linear(15, 15), shapes=[HEADS])
    check_pass(graph, linear_before_transpose, changes=False)


def test_it_asks_for_values_whose_rows_are_in_another_order() -> None:
    graph = folded(lambda a, x: a(_joined(x)), nn.Linear(15, 15), shapes=[HEADS])
    asked: list[str] = []

    def no(name: str) -> bool:
        asked.append(name)
        return False

    check_pass(graph, lambda g: linear_before_transpose(g, no), changes=False)
    (moved,) = (node for node in graph.graph.nodes if calls(node, "transpose"))
    assert asked == [moved.all_input_nodes[0].name]
