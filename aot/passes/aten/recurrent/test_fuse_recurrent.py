# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers of a program that went through torch's decompositions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import pytest
import torch
from absl import logging
from torch import Tensor, nn
from torch.fx import GraphModule, Node

from aot.accept.export import export_aten
from aot.lower import lower
from aot.options import Measure
from aot.testing.fixtures import model, op_counts, samples

# name: function, children, shapes of the inputs, resulting float ops
CASES: dict[
    str, tuple[Callable[..., Any], list[nn.Module], list[tuple[int, ...]], dict[str, int]]
] = {
    "lstm": (lambda r, x: r(x)[0], [nn.LSTM(4, 3)], [(3, 2, 4)], {"lstm": 1}),
    "batch first": (
        lambda r, x: r(x)[0],
        [nn.LSTM(4, 3, batch_first=True)],
        [(2, 3, 4)],
        {"lstm": 1},
    ),
    "as many steps as batches": (
        lambda r, x: r(x)[0],
        [nn.GRU(4, 3, batch_first=True)],
        [(2, 2, 4)],
        {"gru": 1},
    ),
    "no bias": (lambda r, x: r(x)[0], [nn.LSTM(4, 3, bias=False)], [(2, 1, 4)], {"lstm": 1}),
    "layers both ways": (
        lambda r, x: r(x)[0],
        [nn.LSTM(4, 3, 2, bidirectional=True)],
        [(2, 1, 4)],
        {"lstm": 4},
    ),
    "all results": (
        lambda r, x: (lambda y, s: (y, *s))(*r(x)),
        [nn.LSTM(4, 3, 2)],
        [(3, 2, 4)],
        {"lstm": 2},
    ),
    "the last states only": (
        lambda r, x: r(x)[1],
        [nn.GRU(4, 3, bidirectional=True)],
        [(3, 2, 4)],
        {"gru": 2},
    ),
    "given states": (
        lambda r, x, h, c: (lambda y, s: (y, *s))(*r(x, (h, c))),
        [nn.LSTM(4, 3, batch_first=True)],
        [(2, 3, 4), (1, 2, 3), (1, 2, 3)],
        {"lstm": 1},
    ),
    "projection": (
        lambda r, x: r(x)[0],
        [nn.LSTM(4, 6, proj_size=3)],
        [(3, 2, 4)],
        {"lstm": 1},
    ),
    "gru": (lambda r, x: r(x)[0], [nn.GRU(4, 3, 2, batch_first=True)], [(1, 3, 4)], {"gru": 2}),
    "rnn": (lambda r, x: r(x)[0], [nn.RNN(4, 3)], [(2, 1, 4)], {"rnn": 1}),
    "rnn of relu": (
        lambda r, x: r(x)[0],
        [nn.RNN(4, 3, nonlinearity="relu")],
        [(2, 1, 4)],
        {"rnn": 1},
    ),
    "twice": (lambda r, x: r(r(x)[0])[0], [nn.GRU(4, 4)], [(2, 1, 4)], {"gru": 2}),
    "two": (
        lambda r, s, x: s(r(x)[0])[0],
        [nn.GRU(4, 3), nn.LSTM(3, 2)],
        [(2, 1, 4)],
        {"gru": 1, "lstm": 1},
    ),
    "cells": (
        lambda r, g, n, x: n(g(r(x)[0])),
        [nn.LSTMCell(4, 3), nn.GRUCell(3, 3), nn.RNNCell(3, 2)],
        [(2, 4)],
        {"lstm": 1, "gru": 1, "rnn": 1},
    ),
    "a cell's loop": (
        lambda r, x: r(x[1], r(x[0])),
        [nn.GRUCell(4, 3)],
        [(2, 1, 4)],
        {"gru": 2},
    ),
}


def recurrent_ops(nodes: Iterable[Node]) -> dict[str, int]:
    targets = (str(n.target).split(".") for n in nodes if n.op == "call_function")
    return dict(Counter(target[1] for target in targets if target[0] == "recurrent"))


class Together(nn.Module):
    """The cases in one program: to set up torch's decompositions takes longer than most of them.

    Attributes:
      inputs: of each case.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cases = nn.ModuleList(model(case[0], *case[1]) for case in CASES.values())
        self.inputs = [samples(*case[2])[0] for case in CASES.values()]

    def all_inputs(self) -> tuple[Tensor, ...]:
        return tuple(value for inputs in self.inputs for value in inputs)

    def forward(self, *values: Tensor) -> list[tuple[Tensor, ...]]:
        rest, found = iter(values), []
        for module, inputs in zip(self.cases, self.inputs, strict=True):
            results = module(*(next(rest) for _ in inputs))
            found.append(results if isinstance(results, tuple) else (results,))
        return found


def ancestors(nodes: Iterable[Node]) -> set[Node]:
    """Return nodes with all their sources."""
    found: set[Node] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.all_input_nodes
    return found


@cache
def together() -> tuple[Together, GraphModule]:
    module = Together().eval()
    inputs = module.all_inputs()
    program = torch.export.export(module, inputs).run_decompositions()
    return module, export_aten(program, inputs)


@cache
def computed() -> tuple[list[tuple[Tensor, ...]], tuple[Tensor, ...]]:
    """Return the module's results for each case, and the program of all."""
    module, graph = together()
    return module(*module.all_inputs()), graph(*module.all_inputs())


@pytest.mark.parametrize("number", range(len(CASES)), ids=CASES)
def test_whole_recurrent(number: int) -> None:
    wanted, results = computed()
    before = sum(map(len, wanted[:number]))
    mine = slice(before, before + len(wanted[number]))
    (output,) = (n for n in together()[1].graph.nodes if n.op == "output")
    *_, expected = list(CASES.values())[number]
    assert recurrent_ops(ancestors(output.args[0][mine])) == expected
    for result, value in zip(results[mine], wanted[number], strict=True):
        torch.testing.assert_close(result, value, rtol=0.0, atol=1e-5)


def test_each_result_is_a_cases() -> None:
    wanted, results = computed()
    assert sum(map(len, wanted)) == len(results)


def test_lowers_to_one_op() -> None:
    module = model(lambda r, x: r(x)[0], nn.LSTM(4, 8))
    data = samples((6, 1, 4), count=32)
    program = torch.export.export(module, data[0]).run_decompositions()
    lowered = lower(program, data[0], calibration=data, measure=Measure(per_op=False))
    assert op_counts(lowered.module) == {"pl.lstm": 1}
    assert (lowered.quality.outputs[0].sqnr_db or 0.0) > 30.0


def test_what_stays_is_named(caplog: pytest.LogCaptureFixture) -> None:
    module = model(lambda r, x: r(x)[0], nn.GRU(4, 3))
    inputs = (torch.randn(3, 4, generator=torch.Generator().manual_seed(1)),)  # without a batch
    program = torch.export.export(module, inputs).run_decompositions()
    logging.use_absl_handler()
    with caplog.at_level("WARNING", logger="absl"):
        graph = export_aten(program, inputs)
    assert not recurrent_ops(graph.graph.nodes)
    assert "`parts.0` (GRU) is written out in " in caplog.text
    assert "lower the program as it was before run_decompositions(), or the module" in caplog.text
    torch.testing.assert_close(graph(*inputs)[0], module(*inputs), rtol=0.0, atol=1e-5)


def test_the_hint_helps() -> None:
    """The program as it was before."""
    module = model(lambda r, x: r(x)[0], nn.GRU(4, 3))
    inputs: tuple[Tensor, ...] = (torch.zeros(5, 4),)
    graph = export_aten(torch.export.export(module, inputs), inputs)
    assert recurrent_ops(graph.graph.nodes) == {"gru": 1}
