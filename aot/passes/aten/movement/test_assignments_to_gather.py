# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from aot.passes.aten.constants.fold_constants import fold_constants
from aot.passes.aten.movement.assignments_to_gather import assignments_to_gather
from aot.passes.aten.movement.remove_identities import remove_identities
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.arange(1, 73, dtype=torch.float32).reshape(1, 3, 4, 6)
SCATTERS = {"aten.slice_scatter", "aten.index_put", "aten.scatter"}
Function = Callable[..., object]


def _assigned(*place: Any) -> Function:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y[place] = y[place] * 2.0 + 1.0
        return y

    return function


ASSIGNMENTS: dict[str, Function] = {
    "every second": _assigned(..., slice(None, None, 2)),
    "a list": _assigned(slice(None), [0, 2]),
    "pairs": _assigned(0, [0, 2], slice(None), [1, 3]),
    "a value": lambda x: x.index_fill(1, torch.tensor([0, 2]), 5.0),
    "copied": lambda x: x.index_copy(1, torch.tensor([2, 0]), x[:, :2] * 2.0),
    "scattered": lambda x: x.scatter(1, torch.full((1, 1, 4, 6), 2), x[:, :1]),
    "fold without overlap": lambda x: F.fold(x.reshape(1, 12, 6), (4, 6), 2, stride=2),
}
LEFT: dict[str, Function] = {
    "a sum": lambda x: x.index_add(1, torch.tensor([0, 2]), x[:, :2]),
    "fold with overlap": lambda x: F.fold(x.reshape(1, 12, 6), (3, 4), 2),
    "computed indices": lambda x: x.scatter(1, x.argmax(1, keepdim=True), x[:, :1]),
}


def _prepared(graph: torch.fx.GraphModule) -> int:
    remove_identities(graph)
    fold_constants(graph)
    return assignments_to_gather(graph)


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_assignments_become_gathers(name: str) -> None:
    changes, graph = check_aten_pass(_prepared, ASSIGNMENTS[name], inputs=[X])
    assert changes == 1
    counts = op_counts(graph)
    assert counts["aten.index_select"] == 1 and not SCATTERS & set(counts)


@pytest.mark.parametrize("name", LEFT)
def test_others_are_left_alone(name: str) -> None:
    changes, graph = check_aten_pass(_prepared, LEFT[name], inputs=[X])
    assert changes == 0
    assert SCATTERS & set(op_counts(graph))
