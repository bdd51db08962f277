# SPDX-License-Identifier: Apache-2.0
"""Makes `x[i]` with a computed index of rank 0 a row selected by an index tensor. Export makes a
number of it.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.passes.aten.build import call

_aten = torch.ops.aten


def select_by_value(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many selections it replaced."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target is not _aten.select.int or not _is_number(node.args[2]):
            continue
        x, dim, number = node.args
        with module.graph.inserting_before(node):
            index = call(node, _aten.view.default, number.args[0], [1])
            row = call(node, _aten.index_select.default, x, dim, index)
            result = call(node, _aten.squeeze.dim, row, dim)
        node.replace_all_uses_with(result)
        module.graph.erase_node(node)
        count += 1
    return count


def _is_number(value: object) -> bool:
    return isinstance(value, Node) and value.target is _aten._local_scalar_dense.default
