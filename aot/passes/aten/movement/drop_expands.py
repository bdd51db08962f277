# SPDX-License-Identifier: Apache-2.0
"""x * scale.expand_as(x) -> x * scale: an elementwise op that broadcasts needs no expand before it.

Leaves an expand that something else reads, or that makes a result larger, and those of more than 4
dimensions: kernels broadcast over so many, and an expand is the way out.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.rules.function import is_elementwise
from kernels.common.shapes import BROADCAST_DIMS

_EXPAND = torch.ops.aten.expand.default


def drop_expands(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many expands nobody reads any more."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target is not _EXPAND or node.meta["val"].dim() > BROADCAST_DIMS:
            continue
        source = node.args[0]
        assert isinstance(source, Node)
        if all(_broadcasts(user, node, source) for user in node.users):
            node.replace_all_uses_with(source)
            count += 1
    return count


def _broadcasts(user: Node, expanded: Node, source: Node) -> bool:
    """Whether an op gives the same of what is expanded."""
    if not is_elementwise(user.target):
        return False
    operands = [source if n is expanded else n for n in user.all_input_nodes]
    shapes = [n.meta["val"].shape for n in operands]
    return bool(torch.broadcast_shapes(*shapes) == user.meta["val"].shape)
