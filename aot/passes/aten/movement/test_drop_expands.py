# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.passes.aten.movement.drop_expands import drop_expands
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)

# Number of expands afterwards.
CASES: dict[str, tuple[Callable[..., object], int]] = {
    "of a mean": (lambda x: x * x.mean(1, keepdim=True).expand_as(x), 0),
    "two readers": (lambda x: (m := x.mean(1, keepdim=True).expand_as(x)) * x + (x - m), 0),
    "one that needs it": (
        lambda x: (m := x.mean(1, keepdim=True).expand_as(x)) * x + m.flatten(1).reshape(2, 3, 4),
        1,
    ),
    "both sides": (lambda x: x[:, :1].expand(2, 3, 4) + x[:, :, :1].expand(2, 3, 4), 0),
    "larger by itself": (lambda x: x[:, :1].expand(2, 3, 4) * 2.0, 1),
    "a function of it": (lambda x: (y := x[:, :1].expand(2, 3, 4)) + torch.tanh(y), 1),
    "many dimensions": (lambda x: x + x[None, None].expand(1, 2, 2, 3, 4), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_drop_expands(name: str) -> None:
    function, left = CASES[name]
    changes, graph = check_aten_pass(drop_expands, function, inputs=[X])
    graph.graph.eliminate_dead_code()
    assert op_counts(graph).get("aten.expand", 0) == left
    assert bool(changes) == (left == 0)
