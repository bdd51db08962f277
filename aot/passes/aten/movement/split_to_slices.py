# SPDX-License-Identifier: Apache-2.0
"""Replaces split_with_sizes by one aten.slice for each used part."""

from __future__ import annotations

import torch
from torch.fx import GraphModule

from aot.dialect.results import taken_from
from aot.dialect.rule import argument

_SPLIT = torch.ops.aten.split_with_sizes.default


def split_to_slices(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many splits were replaced."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target is not _SPLIT:
            continue
        source, sizes, dim = node.args[0], argument(node, "split_sizes"), argument(node, "dim")
        for user in list(node.users):
            _, index = taken_from(user)
            start = sum(sizes[:index])
            with module.graph.inserting_before(user):
                part = module.graph.call_function(
                    torch.ops.aten.slice.Tensor, (source, dim, start, start + sizes[index], 1)
                )
            part.meta = {**node.meta, "val": user.meta["val"]}
            user.replace_all_uses_with(part)
            module.graph.erase_node(user)
        module.graph.erase_node(node)
        count += 1
    return count
