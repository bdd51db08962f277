# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from aot.passes.aten.constants.separate_weights import separate_weights
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


def test_a_copy_takes_no_name_of_another_constant() -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, value in (("gain", 3.0), ("gain_value", 5.0), ("gain_number", 7.0)):
                self.register_buffer(name, torch.tensor([[value]]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            gains = [self.get_buffer(name) for name in ("gain", "gain_value", "gain_number")]
            return torch.cat([torch.cat([x * gain, gain], 1) for gain in gains], 1)

    changes, _ = check_aten_pass(
        separate_weights, lambda net, x: net(x), Named(), inputs=[torch.ones(1, 1)]
    )
    assert changes == 3
