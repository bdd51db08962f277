# SPDX-License-Identifier: Apache-2.0
"""Names of the layers that compute a value, for settings of `quantization`."""

from __future__ import annotations

from torch.fx import Node

from aot.dialect.qdq import DEQUANTIZE, QUANTIZE
from aot.dialect.rule import Shares
from aot.errors import module_path
from aot.rules import rule_for
from aot.rules.function import function_root, members


def computing(value: Node) -> list[Node]:
    """Return the ops giving a value. For an input these are all its readers: it has their type."""
    if value.op != "placeholder":
        return [value] if function_root(value) is None else members(value)
    return _readers(value)


def _readers(value: Node) -> list[Node]:
    """Return the ops reading a value directly or quantized."""
    found: list[Node] = []
    for reader in value.users:
        if reader.target in (QUANTIZE, DEQUANTIZE):
            found += _readers(reader)
        elif reader.op == "call_function":
            found.append(reader)
    return found


def settings_of(value: Node) -> list[str]:
    """Return the names in settings for the ops computing a value.

    The name is the module, or the value if the module contains others.
    """
    names = []
    for node in computing(value):
        path = module_path(node).partition(" ")[0]
        inside = (module_path(n).startswith(f"{path}.") for n in node.graph.nodes)
        names.append(f"{path}:{node.name}" if not path or any(inside) else path)
    return [*dict.fromkeys(names)]


def only_moves(value: Node) -> bool:
    """Return True if an op only moves values: its result has the type of its input."""
    rule = rule_for(value)
    return rule is not None and isinstance(rule.output, Shares)


def of_one_scale(value: Node) -> list[Node]:
    """Return a value and those that it moves or joins: they share its scale."""
    found, waiting = [value], [value]
    while waiting:
        node = waiting.pop()
        if node.op == "call_function" and only_moves(node):
            new = [n for n in node.all_input_nodes if n not in found and n.op == "call_function"]
            found += new
            waiting += new
    return found
