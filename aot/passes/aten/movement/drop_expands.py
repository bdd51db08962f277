# SPDX-License-Identifier: Apache-2.0
"""x * scale.expand_as(x) -> x * scale: a broadcasting elementwise op needs no expand before it.

Leaves an expand with other readers, one enlarging a result, and those of more than 4 dimensions:
kernels broadcast over 4, and an expand avoids this limit.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.rules.function import is_elementwise
from kernels.common.shapes import BROADCAST_DIMS

_EXPAND = torch.ops.aten.expand.default


def drop_expands(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many expands nobody reads any more."""
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
    """Return True if an op gives the same result without the expand."""
    if not is_elementwise(user.target):
        return False
    operands = [source if n is expanded else n for n in user.all_input_nodes]
    shapes = [n.meta["val"].shape for n in operands]
    return bool(torch.broadcast_shapes(*shapes) == user.meta["val"].shape)
