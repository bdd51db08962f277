# SPDX-License-Identifier: Apache-2.0
"""max_pool2d_with_indices(x) -> max_pool2d(x), if only the values have readers."""

from __future__ import annotations

import torch
from torch.fx import GraphModule

from aot.dialect.results import gives_first_only

_aten = torch.ops.aten


def drop_pool_indices(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many pools lost their indices."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target is not _aten.max_pool2d_with_indices.default or not gives_first_only(node):
            continue
        with module.graph.inserting_before(node):
            pool = module.graph.call_function(_aten.max_pool2d.default, node.args, node.kwargs)
        pool.meta = {**node.meta, "val": node.meta["val"][0]}
        for user in list(node.users):
            user.replace_all_uses_with(pool)
            module.graph.erase_node(user)
        module.graph.erase_node(node)
        count += 1
    return count
