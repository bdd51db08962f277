# SPDX-License-Identifier: Apache-2.0
"""Helpers to read the nodes of a quantized graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import tensor_constant
from aot.dialect.qdq import DEQUANTIZE, QUANTIZE, UNCORRECTED
from aot.upstream.torch import tree_leaves


def call(node: Node, lookup: Callable[[Node], Any]) -> Any:
    """Execute a node's op."""
    args, kwargs = map_arg((node.args, node.kwargs), lookup)
    assert callable(node.target)
    return node.target(*args, **kwargs)


def source_of(node: Node) -> Node:
    """Return the input of a quantize or dequantize node."""
    source = node.args[0]
    assert isinstance(source, Node)
    return source


def root_of(quantizer: Node) -> Node:
    """Return the float value before a quantize node, or before a chain of such nodes."""
    node = quantizer
    while node.target in (QUANTIZE, DEQUANTIZE):
        node = source_of(node)
    return node


def behind(nodes: Sequence[Node]) -> dict[Node, frozenset[str]]:
    """Return for each node the next quantized values, by their names in the float graph."""
    found: dict[Node, frozenset[str]] = {}
    for node in reversed(nodes):
        names = (
            frozenset([root_of(reader).name]) if reader.target is QUANTIZE else found[reader]
            for reader in node.users
            if reader.op != "output"
        )
        found[node] = frozenset().union(*names)
    return found


def last_readings(nodes: Sequence[Node], kept: Collection[Node]) -> dict[Node, list[Node]]:
    """Return for each node the inputs that it reads for the last time, except kept ones."""
    found: dict[Node, list[Node]] = {node: [] for node in nodes}
    seen = set(kept)
    for node in reversed(nodes):
        found[node] = [n for n in node.all_input_nodes if n not in seen]
        seen.update(found[node])
    return found


def constants_of(
    quantized: GraphModule, floats: GraphModule
) -> dict[Node, tuple[torch.Tensor, torch.Tensor]]:
    """Return the constants of a quantized graph as float.

    Weights are taken after dequantization.
    """
    originals = {n.name: n for n in floats.graph.nodes}
    found: dict[Node, tuple[torch.Tensor, torch.Tensor]] = {}
    for node in quantized.graph.nodes:
        constant = tensor_constant(quantized, node)
        if constant is not None:
            found[node] = node.meta.get(UNCORRECTED, constant), constant
        elif node.all_input_nodes and all(n in found for n in node.all_input_nodes):
            stored = call(node, lambda n: found[n][1])
            original = _original(node, originals, floats)
            found[node] = stored if original is None else original, stored
    return found


def _original(node: Node, originals: dict[str, Node], floats: GraphModule) -> torch.Tensor | None:
    """Return the float constant of a dequantize node, from the same argument of its reader."""
    for reader in node.users:
        if reader.name in originals:
            arguments = tree_leaves(originals[reader.name].args)
            for mine, other in zip(tree_leaves(reader.args), arguments, strict=False):
                if mine is node:
                    return tensor_constant(floats, other)
    return None
