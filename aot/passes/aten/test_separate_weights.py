# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from aot.passes.aten.separate_weights import separate_weights
from aot.testing.fixtures import check_aten_pass

ROWS = torch.tensor([[0, 2, 1]])


def constants(graph: torch.fx.GraphModule) -> int:
    return sum(node.op == "get_attr" for node in graph.graph.nodes)


def test_a_table_that_is_a_layers_weights_has_two_nodes() -> None:
    changes, graph = check_aten_pass(
        separate_weights,
        lambda table, rows: F.linear(table(rows), table.weight),
        nn.Embedding(4, 3),
        inputs=[ROWS],
    )
    assert changes == 1 and constants(graph) == 2


def test_weights_of_two_layers_have_one() -> None:
    changes, graph = check_aten_pass(
        separate_weights,
        lambda layer, x: layer(layer(x)),
        nn.Linear(3, 3, bias=False),
        inputs=[torch.ones(2, 3)],
    )
    assert changes == 0 and constants(graph) == 1


def test_a_factor_that_is_a_part_of_an_output_has_two_nodes() -> None:
    factor = torch.tensor([[3.0]])
    changes, graph = check_aten_pass(
        separate_weights,
        lambda x: torch.cat([x * factor, factor, factor + x], 1),
        inputs=[torch.ones(1, 1)],
    )
    assert changes == 1 and constants(graph) == 2
