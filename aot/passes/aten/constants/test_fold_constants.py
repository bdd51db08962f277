# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from aot.passes.aten.constants.fold_constants import fold_constants
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.arange(12, dtype=torch.float32).reshape(3, 4)


class Table(nn.Module):
    table: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(1.0, 5.0))


# Remaining ops.
CASES: dict[str, tuple[Callable[..., object], dict[str, int]]] = {
    "a chain": (lambda t, x: x * t.table.exp().reshape(1, 4), {"aten.mul": 1}),
    "made without inputs": (lambda t, x: x + torch.arange(4.0), {"aten.add": 1}),
    "the model's input": (lambda t, x: x.exp() * t.table, {"aten.exp": 1, "aten.mul": 1}),
    "of another's shape": (
        lambda t, x: x + torch.full_like(x, 2.0) * torch.ones_like(x),
        {"aten.add": 1},
    ),
    "an op of several results": (
        lambda t, x: x + t.table.exp().sort(descending=True).values,
        {"aten.add": 1},
    ),
    "an op that checks what it gives": (
        lambda t, x: x + torch.linalg.solve(torch.diag(t.table), t.table),
        {"aten.add": 1},
    ),
    "two readers": (lambda t, x: (x + (e := t.table.exp())) * e, {"aten.add": 1, "aten.mul": 1}),
}


@pytest.mark.parametrize("name", CASES)
def test_fold_constants(name: str) -> None:
    function, left = CASES[name]
    changes, graph = check_aten_pass(fold_constants, function, Table(), inputs=[X])
    assert op_counts(graph) == left
    assert (changes == 0) == (name == "the model's input")


def test_random_numbers_are_no_constants() -> None:
    program = torch.export.export(nn.Dropout(0.5).train(), (X,))
    graph = program.module(check_guards=False)
    before = op_counts(graph)
    assert fold_constants(graph) == 0
    assert op_counts(graph) == before
