# SPDX-License-Identifier: Apache-2.0
"""Drops tensors without a reader: a replaced constant would be shipped too."""

from __future__ import annotations

from torch.fx import GraphModule


def drop_dead_constants(module: GraphModule) -> int:
    """Rewrite the module in place; return how many buffers were dropped.

    Leaves the graph as it is: a get_attr node without users goes by eliminate_dead_code.
    """
    read = {str(n.target) for n in module.graph.nodes if n.op == "get_attr"}
    dead = [name for name, _ in module.named_buffers(recurse=False) if name not in read]
    for name in dead:
        delattr(module, name)
    return len(dead)
