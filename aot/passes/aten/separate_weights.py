# SPDX-License-Identifier: Apache-2.0
"""Gives a constant that has several roles a node for each: they are quantized in different ways, as
a layer's weights, a value as others are, or a number of a function of one value, which is not
quantized at all. Such are an embedding's table that is the last layer's weights too, and a factor
that is an output's part.

Leaves constants that have one role to all who read them.
"""

from __future__ import annotations

from torch.fx import GraphModule, Node

from aot.dialect.graph import new_buffer, tensor_constant
from aot.rules import rule_for


def separate_weights(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many constants have several nodes now."""
    count = 0
    for constant in list(module.graph.nodes):
        if constant.op != "get_attr":
            continue
        readers: dict[str, list[Node]] = {}
        for user in constant.users:
            readers.setdefault(_role(constant, user), []).append(user)
        for role, users in [*readers.items()][1:]:
            target = str(constant.target)
            if "number" in readers:  # what is quantized is no longer there for it
                value = tensor_constant(module, constant)
                assert value is not None
                target = new_buffer(module, f"{constant.name}_{role}", value.clone())
            with module.graph.inserting_before(constant):
                other = module.graph.get_attr(target)
            other.meta = dict(constant.meta)
            for user in users:
                user.replace_input_with(constant, other)
        count += len(readers) > 1
    return count


def _role(constant: Node, user: Node) -> str:
    rule = rule_for(user)
    if rule is not None and rule.weights(user) is constant:
        return "weights"
    is_value = rule is not None and constant in rule.activations(user)
    return "value" if is_value else "number"
