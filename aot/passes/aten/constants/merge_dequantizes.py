# SPDX-License-Identifier: Apache-2.0
"""Gives each quantized value of torchao's converted graph one dequantize node, and quantize nodes
their shapes.

torchao makes a dequantize node for every user. A pointwise function reading a value twice must see
one value.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.qdq import DEQUANTIZE, QUANTIZE, activation_quantization


def merge_dequantizes(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many nodes were merged into another."""
    count = 0
    kept: dict[tuple[object, ...], Node] = {}
    for node in list(module.graph.nodes):
        if node.target not in (QUANTIZE, DEQUANTIZE):
            continue
        first = kept.setdefault((node.target, *node.args), node)
        if first is not node:
            node.replace_all_uses_with(first)
            module.graph.erase_node(node)
            count += 1
            continue
        source = node.args[0]
        assert isinstance(source, Node)
        value = source.meta.get("val")
        if isinstance(value, torch.Tensor):
            quantized = activation_quantization(node).type.dtype
            dtype = quantized if node.target is QUANTIZE else torch.float32
            node.meta["val"] = torch.empty(value.shape, dtype=dtype, device="meta")
    module.recompile()
    return count
