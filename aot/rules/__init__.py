# SPDX-License-Identifier: Apache-2.0
"""The table of rules for ATen ops.

Each file of this folder with a FAMILY takes part, and each op with its own rule.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.fx import Node

from aot.dialect.results import taken_from
from aot.dialect.rule import Carries, Clamp, Family, Integers, Rule, as_clamp
from aot.rules import function, integers, masks, movement, unary
from aot.rules.function import Roots, is_elementwise
from kernels.ops import MODULES
from tools.python.submodules import submodules

FAMILIES: Sequence[Family] = [
    module.FAMILY for module in (*submodules(__name__), *MODULES) if hasattr(module, "FAMILY")
]
_TABLE: dict[object, Rule] = {op: rule for f in FAMILIES for op, rule in f.rules.items()}

# For ops with several results.
_RESULTS = {op: rules for f in FAMILIES for op, rules in f.results.items()}

_FLOAT = "float"

KEPT = (*function.KEPT, *(op for f in FAMILIES for op in f.kept))
"""Composite ops kept whole by export."""


def register(rule: Rule, *targets: object) -> None:
    """Register a rule for ATen ops without one. Use this for ops defined elsewhere.

    Raises:
      ValueError: there is a rule for one of them.
    """
    for target in targets:
        if target in _TABLE or target in _RESULTS:
            raise ValueError(f"{target} has a rule")
        _TABLE[target] = rule


def keep_float(node: Node) -> None:
    """Prevent all rules from lowering a node: it stays a float op."""
    node.meta[_FLOAT] = True


def rule_for(node: Node, roots: Roots | None = None) -> Rule | None:
    """Return the rule for a node, or None if its op, or this result of it, has no int8 form.

    Args:
      node: of the ATen graph.
      roots: the function roots up to the node, if known.
    """
    if node.op != "call_function" or _FLOAT in node.meta:
        return None
    rule = unary.unary_rule(node, roots) or integers.integer_rule(node) or _table_rule(node)
    return None if rule is None else integers.of_whole_numbers(rule, node)


def on_floats(node: Node) -> Rule | None:
    """Return the rule for a node to the same dialect op on float32, or None."""
    if node.op != "call_function":
        return None
    of_others = unary.mask_rule(node) or masks.on_masks(node) or integers.exact_to_float(node)
    if of_others is not None:
        return of_others
    call, index = taken_from(node)
    rule = _TABLE.get(node.target)
    if call is not node:
        rule = next(iter(_RESULTS.get(call.target, ())[index:]), None)
    return None if rule is None else movement.on_floats(rule, node)


def _table_rule(node: Node) -> Rule | None:
    call, index = taken_from(node)
    if call is node:
        rule = _TABLE.get(node.target)
        return None if rule is None else movement.as_unquantized(rule, node)
    return next(iter(_RESULTS.get(call.target, ())[index:]), None)


def has_rules_by_result(call: Node) -> bool:
    """Return True if a call has no rule itself because each of its results may have one."""
    return call.target in _RESULTS


def unread_states(call: Node) -> list[int]:
    """Return the unread results of a call with observed states."""
    taken = {taken_from(user)[1] for user in call.users}
    rules = enumerate(_RESULTS.get(call.target, ()))
    return [i for i, rule in rules if isinstance(rule.output, Carries) and i not in taken]


def gives_integers(node: Node, roots: Roots | None = None) -> bool:
    """Return True if a rule lowers a node to an unquantized value; `roots` as in rule_for."""
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return False
    rule = rule_for(node, roots)
    return rule is not None and isinstance(rule.output, Integers)


def has_rule(target: object) -> bool:
    """Return True if a rule lowers some form of an ATen op to the dialect."""
    return target in _TABLE or target in _RESULTS or is_elementwise(target)


def fused_clamp(node: Node, roots: Roots | None = None) -> tuple[Node, Clamp] | None:
    """Return (producer, clamp) if the node is a clamp fusible with its only producer.

    `roots` is as in rule_for.
    """
    clamp = as_clamp(node)
    if clamp is None:
        return None
    producer = node.args[0]
    assert isinstance(producer, Node)
    if len(producer.users) != 1:
        return None
    rule = rule_for(producer, roots)
    return (producer, clamp) if rule is not None and rule.fuses_clamp else None
