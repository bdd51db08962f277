# SPDX-License-Identifier: Apache-2.0
"""Finds the int16 values of a graph, as settings of layers request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch.fx import Node

from aot.dialect.quantization import INT16, Quantization
from aot.dialect.rule import Exact, Integers, Rule, Shares
from aot.quantizer.third_party import KEY
from aot.rules.integers import whole_quantization
from aot.upstream.torchao import SharedQuantizationSpec
from kernels.integer.op import integer_quantize


def takes_int16(rule: Rule, node: Node) -> bool:
    """Return True if a node's dialect op has an int16 form, or has no quantized values."""
    op = rule.op(node)
    if op is integer_quantize or isinstance(rule.output, Integers | Exact):
        return True
    kinds = op.dtypes.values()
    return any(torch.int8 in dtypes and torch.int16 in dtypes for dtypes in kinds)


def widened(quantization: Quantization) -> Quantization:
    """Return an int16 quantization that covers the range of another quantization.

    An int8 step is a multiple of its step.
    """
    if quantization.type is INT16:
        return quantization
    finer = 256 if quantization.zero_point == 0 else 128
    return Quantization(quantization.scale / finer, 0, INT16)


def gives_int16(node: Node) -> bool:
    """Return True if another quantizer requests int16 for a node's result."""
    spec = node.meta[KEY].output_qspec
    while isinstance(spec, SharedQuantizationSpec):
        source = spec.edge_or_node
        if isinstance(source, Node):
            spec = source.meta[KEY].output_qspec
        else:
            spec = source[1].meta[KEY].input_qspec_map[source[0]]
    return getattr(spec, "dtype", None) is torch.int16


def int16_values(
    nodes: Sequence[Node],
    rules: Mapping[Node, Rule],
    able: set[Node],
    readers: Mapping[Node, Sequence[tuple[Node, Node]]],
    asked: Callable[[Node], bool],
    fixed: Mapping[Node, bool],
    given: Mapping[Node, Quantization],
) -> set[Node]:
    """Return the nodes whose values are int16.

    A computed value is int16 if its layer requests it. Pure movement ops keep their type,
    but request int16 if their layer does. Values without an op of the dialect, such as inputs and
    constants, are int16 if all their readers are. Integer inputs keep their type.

    Args:
      nodes: of the graph, in order.
      rules: of nodes with an op in the dialect.
      able: those of them with an int16 form.
      readers: by value, its users, each with the node with a rule it reads for.
      asked: returns True if a node's layer requests int16.
      fixed: nodes quantized by another quantizer, with True for int16.
      given: inputs with known quantization.
    """

    def moves(node: Node) -> bool:
        return node in able and isinstance(rules[node].output, Shares)

    def computes(node: Node) -> bool:
        return node in able and not moves(node) and asked(node)

    wanted: set[Node] = set()  # would be int16 if its sources were
    for node in reversed(nodes):
        read_by = dict(readers.get(node, ()))
        if node in rules and not moves(node):
            is_wanted = computes(node)
        else:
            everyone = bool(read_by) and all(user in read_by for user in node.users)
            is_wanted = everyone and wanted.issuperset(read_by.values())
            is_wanted |= node in able and asked(node)
        if is_wanted:
            wanted.add(node)

    found = {node for node, is_int16 in fixed.items() if is_int16}
    for node in nodes:
        if node in fixed:
            continue
        output = rules[node].output if node in rules else None
        whole = whole_quantization(node)
        if whole is not None:
            is_int16 = whole.type is INT16
        elif node in given:
            is_int16 = given[node].type is INT16
        elif isinstance(output, Exact):
            is_int16 = output.quantization.type is INT16
        elif node in rules and moves(node):
            is_int16 = found.issuperset(rules[node].activations(node))
        else:
            is_int16 = node in wanted
        if is_int16:
            found.add(node)
    return found
