# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import torch
from torch import nn
from torch.fx import GraphModule

from aot.accept.export import decompose, export_aten
from aot.dialect.graph import initial_state, state_nodes, state_of
from aot.passes.aten.state.lift_state import lift_state
from aot.testing.fixtures import op_counts

IMAGE = (1, 3, 4, 6)


class Running(nn.Module):
    """A sum, and a count without effect on outputs."""

    sum: torch.Tensor
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("sum", torch.full(IMAGE, 2.0))
        self.register_buffer("count", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        self.sum += x
        return self.sum * 2.0


def test_state_is_lifted() -> None:
    x = torch.ones(IMAGE)
    program = decompose(torch.export.export(Running().eval(), (x,)))
    graph = program.module(check_guards=False)
    assert isinstance(graph, GraphModule)
    assert lift_state(graph) == 1
    graph.graph.lint()
    ((old, new),) = state_nodes(graph)
    assert state_of(old).name == "sum" and op_counts(graph) == {"aten.add": 1, "aten.mul": 1}
    (initial,) = initial_state(graph)
    y, kept = graph(x, initial)
    assert torch.equal(y, torch.full(IMAGE, 6.0)) and torch.equal(kept, torch.full(IMAGE, 3.0))
    assert new.target is torch.ops.aten.add.Tensor
    assert lift_state(graph) == 0


class Cache(nn.Module):
    """The last frames, in a buffer given to it."""

    frames: torch.Tensor

    def __init__(self, frames: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("frames", frames)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.frames.copy_(torch.cat([self.frames[1:], x]))
        return self.frames * 2.0


class TwoNames(nn.Module):
    """Writes its buffer by a submodule's name, as static caches of keys are written."""

    keys: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(4, 3))
        self.cache = self.again = Cache(self.keys)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.cache(x).sum(0, keepdim=True) - self.again(x + 1.0)
        return y + self.keys.mean()


def test_a_buffer_of_two_names_is_one_state() -> None:
    model, x = TwoNames().eval(), torch.randn(1, 3)
    graph = export_aten(model, (x,))
    (state,) = (n.meta["state"] for n in graph.graph.nodes if "state" in n.meta)
    value = state.initial
    for _ in range(3):
        y, value = graph(x, value)
        torch.testing.assert_close(y, model(x))
    assert model.keys is model.cache.frames
