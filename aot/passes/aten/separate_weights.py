# SPDX-License-Identifier: Apache-2.0
"""Gives a constant that is a layer's weights and something else's value a node for each role: they
are quantized in different ways. Such is an embedding's table that is the last layer's weights too.

Leaves constants that are one or the other to all who read them.
"""

from __future__ import annotations

from torch.fx import GraphModule, Node

from aot.rules import rule_for


def separate_weights(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many constants have two nodes now."""
    count = 0
    for constant in list(module.graph.nodes):
        if constant.op != "get_attr":
            continue
        layers = [user for user in constant.users if _is_weight(constant, user)]
        if not layers or len(layers) == len(constant.users):
            continue
        with module.graph.inserting_before(constant):
            weight = module.graph.get_attr(str(constant.target))
        weight.meta = dict(constant.meta)
        for layer in layers:
            layer.replace_input_with(constant, weight)
        count += 1
    return count


def _is_weight(constant: Node, user: Node) -> bool:
    rule = rule_for(user)
    return rule is not None and rule.weights(user) is constant
