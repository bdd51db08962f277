# SPDX-License-Identifier: Apache-2.0
"""Conversion between the states of recurrent ops (aot/rules/recurrent_ops.py) and other ops'
values.

A quantized state is int16 of a scale 2^-n; other values are not. Last states and first states of
recurrent ops are states, also through data movement. In all other places a value is converted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import returned, state_nodes
from aot.dialect.results import is_result, taken_from
from aot.rules import recurrent_ops
from aot.rules.movement import PERMUTE_TARGETS, RESHAPE_TARGETS

_aten = torch.ops.aten

_MOVEMENT = {
    *RESHAPE_TARGETS,
    *PERMUTE_TARGETS,
    _aten.select.int,
    _aten.slice.Tensor,
    _aten.cat.default,
}


def compute_with(module: GraphModule, parts: dict[Node, Node], kept: Collection[object]) -> None:
    """Make readers of a last state use the same value from the output: it needs no conversion.

    States of the model without a recurrent op as reader use it, too.

    Args:
      module: is rewritten in place.
      parts: the same value as a part of an output, by last state.
      kept: torch's recurrent ops left as they are.
    """
    graph = module.graph
    for node in list(graph.nodes):
        if node.op == "output" or not any(n in parts for n in node.all_input_nodes):
            continue
        if node.target in _MOVEMENT and all(n in parts for n in node.all_input_nodes):
            with graph.inserting_before(node):
                parts[node] = graph.node_copy(node, parts.__getitem__)
        else:
            keeps_states = node.target in (*recurrent_ops.OPS, *kept)
            read = node.args[:1] if keeps_states else node.args
            read = map_arg(read, lambda n: parts.get(n, n))
            node.args = (*read, *node.args[1:]) if keeps_states else read
    taken = _taken_states(graph)
    results, new_values = returned(module)
    states = [
        new if old in taken else parts.get(new, new)
        for (old, _), new in zip(state_nodes(module), new_values, strict=True)
    ]
    _return(module, results, states)


def convert_states(module: GraphModule, stays_float: Callable[[Node], bool]) -> int:
    """Convert states in place, after float_recurrent (its states are ordinary values).

    Return the number of converted values. Float parts need no conversion, neither as a state nor as
    a reader of one.
    """
    return _Converter(module, stays_float).run()


class _Converter:
    def __init__(self, module: GraphModule, stays_float: Callable[[Node], bool]) -> None:
        self._module, self._graph = module, module.graph
        self._stays_float = stays_float
        self._states: set[Node] = set()
        self._converted: dict[Node, Node] = {}

    def run(self) -> int:
        taken = _taken_states(self._graph)
        self._states = {n for n in taken if n.op != "call_function" or self._stays_float(n)}
        for node in list(self._graph.nodes):
            if node.op != "call_function":
                continue
            if is_result(node) and taken_from(node)[0].target in recurrent_ops.OPS:
                self._states |= {node} if taken_from(node)[1] > 0 else set()
            elif node.target in _MOVEMENT and self._states.issuperset(node.all_input_nodes):
                self._states.add(node)
            elif not self._stays_float(node):
                self._convert_inputs(node)
        output = self._graph.output_node()
        results, new_values = returned(self._module)
        new_values = [
            self._fitting(new, old in self._states, output)
            for (old, _), new in zip(state_nodes(self._module), new_values, strict=True)
        ]
        _return(self._module, results, new_values)
        self._graph.lint()
        self._module.recompile()
        return len(self._converted)

    def _convert_inputs(self, node: Node) -> None:
        count = _state_count(node)
        for index, argument in enumerate(node.args):
            is_state = 1 <= index <= count
            fitting = partial(self._fitting, is_state=is_state, reader=node)
            node.update_arg(index, map_arg(argument, fitting))

    def _fitting(self, value: Node, is_state: bool, reader: Node) -> Node:
        """Return the value, as a state or not, for a reader.

        A conversion stands before the first reader. It belongs to the layer needing it: the layer
        of a state's reader, or of the value that becomes a state.
        """
        if (value in self._states) == is_state or value.meta["val"].dtype != torch.float32:
            return value
        if value not in self._converted:
            with self._graph.inserting_before(reader):
                made = self._graph.call_function(recurrent_ops.CONVERT, (value,))
            layer = value if is_state else reader
            made.meta = {**layer.meta, "val": value.meta["val"]}
            self._converted[value] = made
        return self._converted[value]


def _state_count(node: Node) -> int:
    """Return the number of states among the arguments after the first."""
    if node.target not in recurrent_ops.OPS:
        return 0
    return 2 if node.target is recurrent_ops.LSTM else 1


def _taken_states(graph: Graph) -> set[Node]:
    """Return the first states of recurrent ops, and their sources before data movement."""
    found: set[Node] = set()
    waiting: list[Node] = []
    for node in graph.nodes:
        waiting += node.args[1 : 1 + _state_count(node)]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.all_input_nodes if node.target in _MOVEMENT else []
    return found


def _return(module: GraphModule, results: Any, states: list[Node]) -> None:
    module.graph.output_node().args = ((*results, *states) if states else results,)
