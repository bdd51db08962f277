# SPDX-License-Identifier: Apache-2.0
"""Conversions between states of recurrent ops and other ops keep the values."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.fx import Node

from aot.accept.export import export_aten
from aot.dialect.graph import initial_state, returned
from aot.dialect.results import is_result
from aot.passes.aten.recurrent.recurrent_states import convert_states
from aot.rules import recurrent_ops
from aot.testing.fixtures import model
from aot.upstream.torch import tree_leaves

X, H = 3, 4


class Stateful(nn.Module):
    """Keeps a function of the layer, x and the state as its state, and returns its result."""

    h: torch.Tensor

    def __init__(self, function: Callable[..., tuple[torch.Tensor, torch.Tensor]]) -> None:
        super().__init__()
        self.layer, self.function = nn.GRU(X, H), function
        self.register_buffer("h", torch.zeros(1, 1, H))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result, self.h = self.function(self.layer, x, self.h)
        return result


def _attention(
    cell: nn.LSTMCell, query: nn.Linear, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor
) -> object:
    scores = (x * query(h)).sum(-1, keepdim=True).softmax(0)
    return cell((scores * x).sum(0), (h, c))


def _both(layer: nn.GRU, first: nn.Linear, x: torch.Tensor) -> object:
    h = first(x[0])
    return layer(x, h[None])[0], h * 2.0


# name: module, shapes of its inputs, how many values are converted
MIXED: dict[str, tuple[nn.Module, tuple[tuple[int, ...], ...], int]] = {
    "a cell state that is computed with": (
        model(lambda a, x: a(x)[1][1] * 2.0, nn.LSTM(X, H)),
        ((5, 1, X),),
        1,
    ),
    "a cell state beside a hidden one": (
        model(lambda a, x: torch.cat(a(x)[1], 2), nn.LSTM(X, H)),
        ((5, 1, X),),
        1,
    ),
    "two readers": (
        model(lambda a, x: (lambda c: (c.relu(), c + 1.0))(a(x)[1][1]), nn.LSTM(X, H)),
        ((5, 1, X),),
        1,
    ),
    "a first state that is computed": (
        model(lambda a, b, x: a(x, b(x[:1]))[0], nn.GRU(X, H), nn.Linear(X, H)),
        ((5, 1, X),),
        1,
    ),
    "a first state of two layers that is computed": (
        model(
            lambda a, b, x: a(x, b(x[0]).expand(2, 1, H).contiguous())[0],
            nn.GRU(X, H, 2),
            nn.Linear(X, H),
        ),
        ((5, 1, X),),
        2,
    ),
    "a value that is a state, too": (model(_both, nn.GRU(X, H), nn.Linear(X, H)), ((5, 1, X),), 1),
    "a given state that an attention reads": (
        model(_attention, nn.LSTMCell(X, H), nn.Linear(H, X)),
        ((5, 1, X), (1, H), (1, H)),
        1,
    ),
    "a given state that only moves": (
        model(lambda a, x, h: a(x, h.reshape(1, 1, H))[0], nn.GRU(X, H)),
        ((5, 1, X), (H, 1)),
        0,
    ),
    "a projection of a given state": (
        model(lambda a, x, h, c: a(x, (h, c)), nn.LSTM(X, H, proj_size=2)),
        ((5, 1, X), (1, 1, 2), (1, 1, H)),
        1,
    ),
    "first states of a projection that are computed": (
        model(
            lambda a, h, c, x: a(x, (h(x[:1]), c(x[:1])))[0],
            nn.LSTM(X, H, proj_size=2),
            nn.Linear(X, 2),
            nn.Linear(X, H),
        ),
        ((5, 1, X),),
        2,
    ),
    "an old state that is computed with": (
        Stateful(lambda gru, x, h: (gru(x, h)[0] + h, gru(x, h)[1])).eval(),
        ((5, 1, X),),
        1,
    ),
    "a new state that is computed": (
        Stateful(lambda gru, x, h: (gru(x, h)[0], gru(x, h)[1] * 0.5)).eval(),
        ((5, 1, X),),
        1,
    ),
    "a state that no recurrent op takes": (
        Stateful(lambda gru, x, h: (gru(x)[0] + h, gru(x)[1])).eval(),
        ((5, 1, X),),
        0,
    ),
}


@pytest.mark.parametrize("name", MIXED)
def test_states_are_converted_where_they_meet_other_values(name: str) -> None:
    network, shapes, count = MIXED[name]
    torch.manual_seed(0)
    inputs = [torch.randn(shape) for shape in shapes]
    graph = export_aten(network, inputs)
    expected = tree_leaves(network(*inputs))
    assert convert_states(graph, lambda node: False) == count
    found = tree_leaves(graph(*inputs, *initial_state(graph)))[: len(expected)]
    for value, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(value, wanted, rtol=1e-5, atol=1e-6)
    for node in graph.graph.nodes:
        if node.target in recurrent_ops.OPS:
            count = 2 if node.target is recurrent_ops.LSTM else 1
            assert all(map(_may_be_state, node.args[1 : 1 + count])), node.args


def _may_be_state(value: Node) -> bool:
    if value.op != "call_function" or value.target is recurrent_ops.CONVERT:
        return True
    return is_result(value) or all(map(_may_be_state, value.all_input_nodes))


def test_what_stays_in_float_needs_none() -> None:
    network = model(lambda a, b, x: b(a(x)[1][1]), nn.LSTM(X, H), nn.Linear(H, 2))
    graph = export_aten(network, [torch.randn(5, 1, X)])
    is_linear = torch.ops.aten.linear.default
    assert convert_states(graph, lambda node: node.target is is_linear) == 0


def test_a_cell_state_that_is_only_kept_is_converted() -> None:
    class Last(nn.Module):
        c: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.LSTM(X, H)
            self.register_buffer("c", torch.zeros(1, 1, H))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y, (_, c) = self.layer(x)
            result: torch.Tensor = y[-1] + self.c
            self.c = c
            return result

    graph = export_aten(Last().eval(), [torch.randn(5, 1, X)])
    assert convert_states(graph, lambda node: False) == 1
    assert [new.target for new in returned(graph)[1]] == [recurrent_ops.CONVERT]
