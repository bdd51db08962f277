# SPDX-License-Identifier: Apache-2.0
"""transpose(reshape(transpose(x))) -> one transpose, if one gives the same.

Matches windows from an unfolding and a change of layouts, one after the other. Leaves inner
transposes with other readers: they would still be there.
"""

from __future__ import annotations

from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, calls, drop_dead_code
from aot.passes.rewrite.index_map import before_movement, reordered_by
from aot.passes.rewrite.merge_movements import move, regrouped
from kernels.common.tensor import MAX_RANK


def merge_transposes(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many transposes went into others."""
    count = 0
    builder = Builder(module, module.graph)
    for node in reversed(list(module.graph.nodes)):
        if not calls(node, "transpose") or not _moves_twice(node):
            continue
        source, places = before_movement(node)
        moved = regrouped(places)
        if moved is None or len(moved[0]) > MAX_RANK:
            continue
        with module.graph.inserting_before(node):
            new = move(builder, source, moved, node)
        node.replace_all_uses_with(new)
        drop_dead_code(module.graph)
        count += 1
    if count:
        module.recompile()
    return count


def _moves_twice(node: Node) -> bool:
    """Return True if a value was transposed before, for a transpose only."""
    before = list(reordered_by(node))[1:]
    is_transposed = any(calls(step, "transpose") for step in before)
    return is_transposed and all(len(step.users) == 1 for step in before)
