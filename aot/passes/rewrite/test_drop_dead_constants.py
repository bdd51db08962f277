# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import torch
from torch import nn

from aot.passes.rewrite.drop_dead_constants import drop_dead_constants


def test_drop_dead_constants() -> None:
    graph = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(3, 2)))
    graph.register_buffer("dead", torch.ones(1000))
    graph.register_buffer("read", torch.ones(2))
    output = next(n for n in graph.graph.nodes if n.op == "output")
    with graph.graph.inserting_before(output):
        read = graph.graph.get_attr("read")
    output.args = ((output.args[0], read),)
    assert drop_dead_constants(graph) == 1
    assert [name for name, _ in graph.named_buffers()] == ["read"]
    assert drop_dead_constants(graph) == 0
