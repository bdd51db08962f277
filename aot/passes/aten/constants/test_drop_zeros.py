# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from aot.lower import lower
from aot.options import Measure
from aot.passes.aten.constants.drop_zeros import drop_zeros
from aot.testing.fixtures import check_aten_pass, op_counts, samples

X = torch.arange(12, dtype=torch.float32).reshape(3, 4)


class Zeros(nn.Module):
    zeros: torch.Tensor
    row: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("zeros", torch.zeros(3, 4))
        self.register_buffer("planes", torch.zeros(2, 3, 4))
        self.register_buffer("nearly", torch.eye(3, 4))
        self.learned = nn.Parameter(torch.zeros(3, 4))


# Remaining ops.
CASES: dict[str, tuple[Callable[..., object], dict[str, int]]] = {
    "product and sum": (lambda m, x: (x.exp() + x * m.zeros).exp(), {"aten.exp": 2}),
    "the other way round": (lambda m, x: (m.zeros * x + x.exp()).exp(), {"aten.exp": 2}),
    "difference": (lambda m, x: (x.exp() - m.zeros).exp(), {"aten.exp": 2}),
    "numbers": (
        lambda m, x: (x.exp() * 0 + x + 0.0).exp(),
        {"aten.exp": 2, "aten.mul": 1, "aten.add": 1},
    ),
    "an output": (lambda m, x: x * 0.0, {"aten.mul": 1}),
    "from zero": (lambda m, x: (m.zeros - x).exp(), {"aten.sub": 1, "aten.exp": 1}),
    "a multiple behind zero": (
        lambda m, x: torch.add(m.zeros, x, alpha=2).exp(),
        {"aten.exp": 1, "aten.add": 1},
    ),
    "broadcast by zeros": (lambda m, x: (x + m.planes).exp(), {"aten.exp": 1, "aten.add": 1}),
    "one that is none": (lambda m, x: (x * m.nearly).exp(), {"aten.exp": 1, "aten.mul": 1}),
    "a parameter": (lambda m, x: (x * m.learned).exp(), {"aten.exp": 1, "aten.mul": 1}),
}


@pytest.mark.parametrize("name", CASES)
def test_drop_zeros(name: str) -> None:
    function, left = CASES[name]
    _, graph = check_aten_pass(drop_zeros, function, Zeros(), inputs=[X])
    graph.graph.eliminate_dead_code()
    assert op_counts(graph) == left


class Decaying(nn.Module):
    """A hand-written loop whose state starts with zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.value = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gates, values = torch.sigmoid(self.gate(x)), self.value(x)
        state, states = torch.zeros_like(values[:, 0]), []
        for step in range(x.shape[1]):
            state = gates[:, step] * state + values[:, step]
            states.append(state)
        return torch.stack(states, 1)


def test_a_loop_that_starts_with_zeros_has_no_dead_range() -> None:
    data = samples((1, 3, 4), count=16)
    result = lower(Decaying().eval(), data[0], calibration=data, measure=Measure(per_op=False))
    assert "dead_range" not in {finding.kind for finding in result.quality.findings}
    assert (op_counts(result.module)["pl.mul"], op_counts(result.module)["pl.add"]) == (2, 2)
