# SPDX-License-Identifier: Apache-2.0
"""lut(lut(x)) -> lut(x) with the composed table; the inner table must have no other user. Tables of
int16 values stay, because they interpolate between entries.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, calls, drop_dead_code, edge_of, tensor_constant
from kernels.lut.op import lut


def compose_luts(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many tables were composed."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not calls(node, "lut") or not calls(node.args[0], "lut"):
            continue
        inner = node.args[0]
        if len(inner.users) != 1 or inner.meta["val"].dtype is torch.int16:
            continue
        tables = [tensor_constant(module, n.args[1]) for n in (inner, node)]
        first, second = tables
        assert first is not None and second is not None
        origin = node.meta["origin"]
        origin = replace(origin, ops=(*inner.meta["origin"].ops, *origin.ops))
        source = inner.args[0]
        assert isinstance(source, Node)
        with module.graph.inserting_before(node):
            table = builder.constant(f"{node.name}_table", lut.reference(first, second))
            new = builder.call(lut, source, table, edge=edge_of(node), origin=origin)
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
        module.graph.erase_node(inner)
        count += 1
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count
