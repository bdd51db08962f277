# SPDX-License-Identifier: Apache-2.0
"""slice(gather(x)) and gather(slice(x)) -> gather(gather(x)); merge_gathers.py makes one of it. The
inner one has no other user.

Matches for example every second row of a flipped or rolled image. Leaves a slice of a dimension
after all gathered ones: one gather would copy smaller pieces than both ops. Also leaves a slice
copying nothing.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, arguments, calls, edge_of
from aot.passes.rewrite.state_copies import is_piece
from kernels.gather.op import gather


def slices_to_gathers(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many slices changed."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not calls(node, "slice") or is_piece(node) or not _is_beside_a_gather(node):
            continue
        values = arguments(node)
        taken = torch.arange(values["start"], values["end"], values["step"], dtype=torch.int32)
        with module.graph.inserting_before(node):
            new = builder.call(
                gather,
                values["input"],
                [builder.constant(f"{node.name}_index", taken)],
                [values["dim"]],
                edge=edge_of(node),
                origin=node.meta["origin"],
            )
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
        count += 1
    if count:
        module.recompile()
    return count


def _is_beside_a_gather(cut: Node) -> bool:
    """Return True if a slice and a gather cost less as one; the second must be the first's only
    reader.
    """
    inner = arguments(cut)["input"]
    pairs = [(inner, inner), *((user, cut) for user in cut.users)]
    return any(
        calls(one, "gather")
        and len(read.users) == 1
        and arguments(cut)["dim"] <= max(arguments(one)["dims"])
        for one, read in pairs
    )
