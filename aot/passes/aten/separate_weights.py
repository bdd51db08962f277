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
from aot.rules.function import roots_known


def separate_weights(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many constants have several nodes now."""
    shared = [n for n in module.graph.nodes if n.op == "get_attr" and len(n.users) > 1]
    with roots_known(module.graph):
        readers_of = {constant: _readers(constant) for constant in shared}
    for constant, readers in readers_of.items():
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
    return sum(len(readers) > 1 for readers in readers_of.values())


def _readers(constant: Node) -> dict[str, list[Node]]:
    """The nodes that read a constant, by its role for them."""
    readers: dict[str, list[Node]] = {}
    for user in constant.users:
        readers.setdefault(_role(constant, user), []).append(user)
    return readers


def _role(constant: Node, user: Node) -> str:
    rule = rule_for(user)
    if rule is not None and rule.weights(user) is constant:
        return "weights"
    is_value = rule is not None and constant in rule.activations(user)
    return "value" if is_value else "number"
