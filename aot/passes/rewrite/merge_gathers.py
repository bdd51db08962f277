# SPDX-License-Identifier: Apache-2.0
"""gather(gather(x)) -> gather(x), along the dimensions of both; the inner one has no other user.

An example is reflection padding: the user's graph gathers each dimension by itself.
"""

from __future__ import annotations

from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, arguments, calls, drop_dead_code, edge_of, tensor_constant
from kernels.gather.op import gather


def merge_gathers(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many gathers went away."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not calls(node, "gather") or not calls(node.args[0], "gather"):
            continue
        inner = node.args[0]
        if len(inner.users) != 1:
            continue
        merged = _indices(inner)
        with module.graph.inserting_before(node):
            for dim, index in _indices(node).items():
                if dim in merged:
                    first, second = (tensor_constant(module, n) for n in (merged[dim], index))
                    assert first is not None and second is not None
                    index = builder.constant(f"{node.name}_index", first[second])
                merged[dim] = index
            new = builder.call(
                gather,
                inner.args[0],
                list(merged.values()),
                list(merged),
                edge=edge_of(node),
                origin=node.meta["origin"],
            )
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
        module.graph.erase_node(inner)
        count += 1
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count


def _indices(node: Node) -> dict[int, Node]:
    """Return the indices of a gather by dimension."""
    values = arguments(node)
    return dict(zip(values["dims"], values["indices"], strict=True))
