# SPDX-License-Identifier: Apache-2.0
"""Buffers that take their shape in the first run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from aot.accept.export import export_aten
from aot.dialect.graph import State
from aot.errors import LoweringError


class _Leaky(nn.Module):
    mem: torch.Tensor | None

    def __init__(self, mem: torch.Tensor | None, start: Callable[[torch.Tensor], torch.Tensor]):
        super().__init__()
        self.register_buffer("mem", mem, persistent=False)
        self.start = start

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.mem is None or self.mem.shape != x.shape:
            self.mem = self.start(x)
        self.mem = 0.9 * self.mem + x
        return self.mem * 2


def _net(mem: torch.Tensor | None, start: Callable[[torch.Tensor], torch.Tensor]) -> nn.Module:
    return nn.Sequential(nn.Linear(4, 6), _Leaky(mem, start)).eval()


@pytest.mark.parametrize("mem", [None, torch.zeros(0), torch.zeros(1)])
def test_state_has_its_later_shape(mem: torch.Tensor | None) -> None:
    model, x = _net(mem, torch.zeros_like), torch.randn(2, 4)
    graph = export_aten(model, (x,))
    (state,) = (n.meta["state"] for n in graph.graph.nodes if "state" in n.meta)
    assert isinstance(state, State) and state.name == "1.mem"
    assert torch.equal(state.initial, torch.zeros(2, 6))
    assert model.get_submodule("1").mem is mem  # the model is as it was
    value = state.initial
    for _ in range(3):
        y, value = graph(x, value)
        torch.testing.assert_close(y, model(x))


def test_a_number_is_repeated() -> None:
    class Sums(nn.Module):
        total: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.tensor(3.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total = self.total + x
            return self.total * 2

    graph = export_aten(Sums().eval(), (torch.randn(2, 3),))
    (state,) = (n.meta["state"] for n in graph.graph.nodes if "state" in n.meta)
    assert torch.equal(state.initial, torch.full((2, 3), 3.0))


def test_another_start_is_refused() -> None:
    """No value before the first run gives these results."""
    with pytest.raises(LoweringError, match=r"state 1.mem is .*\[0\] and becomes"):
        export_aten(_net(torch.zeros(0), torch.ones_like), (torch.randn(2, 4),))
