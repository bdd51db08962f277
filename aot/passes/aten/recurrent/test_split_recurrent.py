# SPDX-License-Identifier: Apache-2.0
"""LSTM, GRU, RNN and cells become one float op a layer and direction, of the same values."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from aot.accept.export import export_aten
from aot.dialect.results import is_result, taken_from
from aot.passes.aten.recurrent.split_recurrent import KEPT
from aot.testing.fixtures import model, op_counts
from aot.upstream.torch import decompositions, tree_leaves

X, H = 3, 4


def _steps(cell: nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    """A cell over a sequence, written out."""
    state, outputs = None, []
    for step in x:
        state = cell(step, state)
        outputs.append(state[0] if isinstance(state, tuple) else state)
    return outputs


# name: module, input shapes, float ops by name with their counts
LAYERS: dict[str, tuple[nn.Module, tuple[tuple[int, ...], ...], dict[str, int]]] = {
    "lstm": (nn.LSTM(X, H), ((5, 2, X),), {"lstm": 1}),
    "gru without bias": (nn.GRU(X, H, bias=False), ((5, 1, X),), {"gru": 1}),
    "tanh": (nn.RNN(X, H), ((5, 2, X),), {"rnn": 1}),
    "relu": (nn.RNN(X, H, nonlinearity="relu"), ((5, 2, X),), {"rnn": 1}),
    "no batch": (nn.LSTM(X, H), ((5, X),), {"lstm": 1}),
    "batch first": (nn.GRU(X, H, batch_first=True), ((2, 5, X),), {"gru": 1}),
    "both directions": (nn.LSTM(X, H, bidirectional=True), ((5, 2, X),), {"lstm": 2}),
    "layers": (nn.GRU(X, H, 3), ((5, 2, X),), {"gru": 3}),
    "all of it": (
        nn.LSTM(X, H, 2, bidirectional=True, batch_first=True),
        ((2, 5, X),),
        {"lstm": 4},
    ),
    "a state that is given": (nn.GRU(X, H, 2), ((5, 1, X), (2, 1, H)), {"gru": 2}),
    "lstm cell": (nn.LSTMCell(X, H), ((2, X),), {"lstm": 1}),
    "gru cell": (nn.GRUCell(X, H, bias=False), ((2, X), (2, H)), {"gru": 1}),
    "rnn cell": (nn.RNNCell(X, H, nonlinearity="relu"), ((X,),), {"rnn": 1}),
}


@pytest.mark.parametrize("name", LAYERS)
def test_one_op_a_layer_and_direction(name: str) -> None:
    module, shapes, ops = LAYERS[name]
    network = model(lambda layer, *inputs: layer(*inputs), module)
    inputs = [torch.randn(shape) for shape in shapes]
    graph = export_aten(network, inputs)
    counts = op_counts(graph)
    assert {k: n for k, n in counts.items() if k.startswith("recurrent")} == {
        f"recurrent.{op}": n for op, n in ops.items()
    }
    for value, expected in zip(*map(tree_leaves, (graph(*inputs), network(*inputs))), strict=True):
        torch.testing.assert_close(value, expected, rtol=0.0, atol=1e-6)


# name: function of a layer, a second one and x [5, 1, X]. Computations with a last hidden state
# read the output; kept states do not.
USES: dict[str, tuple[Callable[..., object], list[nn.Module], int]] = {
    "the last state": (lambda a, b, x: b(a(x)[1]), [nn.GRU(X, H), nn.Linear(H, 2)], 0),
    "of one layer": (lambda a, b, x: b(a(x)[1][-1]), [nn.GRU(X, H, 2), nn.Linear(H, 2)], 0),
    "moved": (
        lambda a, b, x: b(a(x)[1].transpose(0, 1).flatten(1)),
        [nn.GRU(X, H), nn.Linear(H, 2)],
        0,
    ),
    "an output": (lambda a, b, x: (a(x)[1] * 2.0, a(x)[1]), [nn.GRU(X, H), nn.Identity()], 1),
    "another's first": (lambda a, b, x: b(x, a(x)[1])[0], [nn.GRU(X, H), nn.GRU(X, H)], 1),
    "another's input": (lambda a, b, x: b(a(x)[1])[0], [nn.GRU(X, H), nn.GRU(H, H)], 0),
}


@pytest.mark.parametrize("name", USES)
def test_what_computes_with_a_last_state_reads_the_output(name: str) -> None:
    function, parts, kept = USES[name]
    network = model(function, *parts)
    x = torch.randn(5, 1, X)
    graph = export_aten(network, (x,))
    states = [n for n in graph.graph.nodes if is_result(n) and taken_from(n)[1] > 0]
    assert len(states) == kept
    for value, expected in zip(*map(tree_leaves, (graph(x), network(x))), strict=True):
        torch.testing.assert_close(value, expected, rtol=0.0, atol=1e-6)


def test_no_op_of_torch_is_left() -> None:
    network = model(lambda cell, x: _steps(cell, x), nn.LSTMCell(X, H))
    graph = export_aten(network, (torch.randn(3, 2, X),))
    assert op_counts(graph)["recurrent.lstm"] == 3
    assert not any(node.target in KEPT for node in graph.graph.nodes)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_export_goes_through_no_step(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a sequence of 1000 steps takes minutes."""

    def step(*_: object) -> None:
        raise AssertionError("a step of a recurrent layer was computed")

    for name in ("lstm_cell", "gru_cell"):
        monkeypatch.setattr(decompositions, name, step)
    monkeypatch.setattr(decompositions, "rnn_cell", lambda _: step)
    layer = getattr(nn, kind)(X, H, 2, bidirectional=True).eval()
    graph = export_aten(layer, [torch.randn(1000, 1, X)])
    assert op_counts(graph)[f"recurrent.{kind.lower()}"] == 4
