# SPDX-License-Identifier: Apache-2.0
"""Finds nodes of an ATen graph with an int8 form, and the readers of their inputs."""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.results import take, taken_from, values_of
from aot.dialect.rule import Rule
from aot.rules import gives_integers, rule_for, unread_states
from aot.rules.function import Roots, function_root, is_interior, members
from aot.rules.integers import whole_quantization


def is_float_tensor(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


def is_real(node: Node) -> bool:
    """Return True if a value is float.

    Float copies of integer inputs do not count: those stay exact.
    """
    return is_float_tensor(node) and whole_quantization(node) is None


def supported_rule(node: Node, roots: Roots) -> Rule | None:
    """Return the rule that lowers a node to the dialect.

    None if the node has no int8 form, or is inside of one.
    """
    if node.op != "call_function" or not (is_float_tensor(node) or gives_integers(node, roots)):
        return None
    rule = rule_for(node, roots)
    if rule is None or is_interior(node, roots) or rule.reject(node) is not None:
        return None
    return rule


def readers_for(node: Node) -> list[Node]:
    """Return the ops that read activations on behalf of a node.

    These are the inner ops of a pointwise function, and the call a result is taken from.
    """
    call, _ = taken_from(node)
    if call is not node:
        return [call]
    return [m for m in members(node) if m is not node] if function_root(node) is not None else []


def take_states(model: GraphModule) -> None:
    """Remove unread states from their calls, so that they are observed.

    This happens here because other quantizers drop values without readers.
    """
    for call in list(model.graph.nodes):
        for index in unread_states(call):
            with model.graph.inserting_after(call):
                state = take(model.graph, call, index)
            state.meta = {**call.meta, "val": values_of(call)[index]}
    model.recompile()
