# SPDX-License-Identifier: Apache-2.0
"""Gives a constant one node for each role, because roles are quantized differently.

Roles are: a layer's weights, an ordinary value, or an unquantized number in a pointwise function.
Examples: an embedding's table is also the last layer's weights. A factor is also part of an output,
or of a choice among integer inputs. Marks those of integer inputs.

Leaves constants with the same role for all readers.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import new_buffer, tensor_constant
from aot.rules import rule_for
from aot.rules.function import WHOLE, roots_known
from aot.rules.integers import whole_quantization


def separate_weights(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many constants have several nodes now."""
    constants = [n for n in module.graph.nodes if n.op == "get_attr"]
    with roots_known(module.graph):
        readers_of = {constant: _readers(constant) for constant in constants}
    for constant, readers in readers_of.items():
        for place, (role, users) in enumerate(readers.items()):
            node = constant if place == 0 else _again(module, constant, role, "number" in readers)
            for user in users:
                user.replace_input_with(constant, node)
            if isinstance(role, torch.dtype):
                node.meta[WHOLE] = role
    return sum(len(readers) > 1 for readers in readers_of.values())


def _again(module: GraphModule, constant: Node, role: object, is_number: bool) -> Node:
    """Return another node of a constant; it gets its own tensor if one role is a number."""
    target = str(constant.target)
    if is_number:  # after quantization the original is gone
        value = tensor_constant(module, constant)
        assert value is not None
        name = f"{constant.name}_{role}".replace(".", "_")
        target = new_buffer(module, name, value.clone())
    with module.graph.inserting_before(constant):
        other = module.graph.get_attr(target)
    other.meta = dict(constant.meta)
    return other


def _readers(constant: Node) -> dict[object, list[Node]]:
    """Return the readers of a constant, by its role for them."""
    readers: dict[object, list[Node]] = {}
    for user in constant.users:
        readers.setdefault(_role(constant, user), []).append(user)
    return readers


def _role(constant: Node, user: Node) -> object:
    """Return the role: a name, or the dtype of the integer inputs that it belongs to."""
    rule = rule_for(user)
    if rule is not None and rule.weights(user) is constant:
        return "weights"
    if rule is None or constant not in rule.activations(user):
        return "number"
    return "value" if whole_quantization(user) is None else user.meta[WHOLE]
