# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import torch
from torch.fx import Graph, GraphModule

from aot.dialect.qdq import DEQUANTIZE, QUANTIZE
from aot.passes.aten.constants.merge_dequantizes import merge_dequantizes

A, B = (0.5, 3, -128, 127, torch.int8), (0.25, 3, -128, 127, torch.int8)


def test_merge_dequantizes() -> None:
    """One node of each quantization is left, with the shape of its result."""
    graph = Graph()
    x = graph.placeholder("x")
    x.meta["val"] = torch.empty(2, 5, device="meta")
    quantized = [graph.call_function(QUANTIZE, (x, *how)) for how in (A, A, B)]
    read = [
        graph.call_function(DEQUANTIZE, (quantized[i], *how)) for i, how in enumerate((A, A, B))
    ]
    again = graph.call_function(DEQUANTIZE, (quantized[0], *A))
    graph.output((*read, again))
    module = GraphModule(torch.nn.Module(), graph)
    values = torch.linspace(-3, 3, 10).reshape(2, 5)
    before = module(values)

    assert merge_dequantizes(module) == 3
    assert all(torch.equal(a, b) for a, b in zip(before, module(values), strict=True))
    calls = [n for n in module.graph.nodes if n.op == "call_function"]
    assert [n.target for n in calls].count(QUANTIZE) == 2
    assert [n.target for n in calls].count(DEQUANTIZE) == 2
    for node in calls:
        dtype = torch.int8 if node.target is QUANTIZE else torch.float32
        assert (node.meta["val"].shape, node.meta["val"].dtype) == ((2, 5), dtype)
    assert merge_dequantizes(module) == 0
