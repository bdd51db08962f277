# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.passes.aten.movement.select_by_value import select_by_value
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.arange(15, dtype=torch.float32).reshape(3, 5).sin()


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (lambda x: x[0][x[0].argmax()], 1),
        (lambda x: (x[x[:, 1].argmax()], x[1:, x[0].argmin()]), 2),
        (lambda x: x.T[x[2].argmax(), 1:3] + 1, 1),
        (lambda x: x[1], 0),
    ],
)
def test_select_by_value(function: Callable[..., object], count: int) -> None:
    found, graph = check_aten_pass(select_by_value, function, inputs=[X])
    graph.graph.eliminate_dead_code()
    counts = op_counts(graph)
    assert found == counts.get("aten.index_select", 0) == count
    assert "aten._local_scalar_dense" not in counts
