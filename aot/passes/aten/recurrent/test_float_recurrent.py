# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from aot.accept.export import export_aten
from aot.passes.aten.recurrent.float_recurrent import float_recurrent
from aot.rules import recurrent_ops
from aot.testing.fixtures import op_counts
from aot.upstream.torch import tree_leaves

X = torch.randn(5, 2, 3, generator=torch.Generator().manual_seed(0))
_MANY: dict[str, Any] = {"num_layers": 2, "bidirectional": True}


@pytest.mark.parametrize(
    ("make", "count", "steps"),
    [
        (lambda: nn.LSTM(3, 4, **_MANY), 4, 5),
        (lambda: nn.GRU(3, 4, batch_first=True, **_MANY), 4, 2),
        (lambda: nn.RNN(3, 4, bias=False), 1, 5),
        (lambda: nn.RNN(3, 4, nonlinearity="relu", batch_first=True), 1, 2),
    ],
)
def test_is_torchs_layer(make: Callable[[], nn.Module], count: int, steps: int) -> None:
    torch.manual_seed(0)
    model = make().eval()
    graph = export_aten(model, [X])
    assert float_recurrent(graph, lambda node: True) == count
    graph.graph.lint()
    graph.recompile()
    assert not any(node.target in recurrent_ops.OPS for node in graph.graph.nodes)
    assert op_counts(graph)["aten.linear"] == count * (1 + steps)
    torch.testing.assert_close(tree_leaves(graph(X)), tree_leaves(model(X)), rtol=1e-5, atol=1e-6)


def test_leaves_others() -> None:
    graph = export_aten(nn.LSTM(3, 4).eval(), [X])
    assert float_recurrent(graph, lambda node: False) == 0
    assert any(node.target in recurrent_ops.OPS for node in graph.graph.nodes)
