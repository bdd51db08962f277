# SPDX-License-Identifier: Apache-2.0
"""relu(reshape(conv(x))) -> reshape(relu(conv(x))): a clamp moves to the op fusing it.

Matches relu, relu6, hardtanh and clamp over ATen reshapes and permutes, each with no other user, of
an op whose rule fuses a clamp. Such reshapes stand between a Conv1d, made a 2d convolution, and its
ReLU. Leaves other clamps in place.
"""

from __future__ import annotations

from torch.fx import GraphModule, Node

from aot.dialect.rule import as_clamp
from aot.passes.aten.norms.fuse_batch_norm import keep_trained
from aot.rules import rule_for
from aot.rules.movement import beneath_movement


def hoist_clamps(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many clamps were moved."""
    count = 0
    for node in list(module.graph.nodes):
        if as_clamp(node) is None:
            continue
        moved = node.args[0]
        assert isinstance(moved, Node)
        producer = beneath_movement(moved)
        if producer is moved or len(producer.users) != 1:
            continue
        rule = rule_for(producer)
        if rule is None or not rule.fuses_clamp:
            continue
        (reader,) = producer.users
        with module.graph.inserting_after(producer):
            clamp = module.graph.call_function(node.target, (producer, *node.args[1:]), node.kwargs)
        clamp.meta = {**node.meta, "val": producer.meta["val"]}
        reader.replace_input_with(producer, clamp)
        keep_trained(node, moved)
        node.replace_all_uses_with(moved)
        module.graph.erase_node(node)
        count += 1
    return count
