# SPDX-License-Identifier: Apache-2.0
"""Splits torch's LSTM, GRU, RNN and their cells into a float op for each layer and direction
(aot/rules/recurrent_ops.py). A cat joins two directions or several layers.

An LSTM with a projection becomes one without, with a linear layer after it. The hidden weights
absorb the projection. A given first state is converted back by another linear layer.

Leaves computed weights and packed sequences for the error message.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import drop_dead_code, tensor_constant
from aot.dialect.results import gives_one, results_of, taken_from
from aot.passes.aten.build import constant
from aot.passes.aten.recurrent.recurrent_states import compute_with
from aot.rules import recurrent_ops
from aot.upstream.torch import recurrent_layers_as

_aten = torch.ops.aten


@dataclass(frozen=True)
class _Kind:
    """Conversion of one of torch's ops.

    Attributes:
      op: the float op.
      states: number of states of a layer.
      arguments: additional arguments, after the common ones of float ops.
    """

    op: Any
    states: int = 1
    arguments: tuple[object, ...] = ()


_LSTM, _GRU = _Kind(recurrent_ops.LSTM, 2), _Kind(recurrent_ops.GRU)
_TANH, _RELU = (_Kind(recurrent_ops.RNN, arguments=(relu,)) for relu in (False, True))
_LAYERS = {
    _aten.lstm.input: _LSTM,
    _aten.gru.input: _GRU,
    _aten.rnn_tanh.input: _TANH,
    _aten.rnn_relu.input: _RELU,
}
_CELLS = {
    _aten.lstm_cell.default: _LSTM,
    _aten.gru_cell.default: _GRU,
    _aten.rnn_tanh_cell.default: _TANH,
    _aten.rnn_relu_cell.default: _RELU,
}
KEPT = (*_LAYERS, *_CELLS)
"""Composite ops left whole by export for this pass."""


def steps_unseen() -> AbstractContextManager[None]:
    """Give torch the result shapes of these ops within the context, without going through their
    steps.

    Export only needs the shapes of a whole op. The steps would take a tenth of a second each.
    """
    return recurrent_layers_as(_layer_shapes)


def _layer_shapes(
    x: torch.Tensor, states: Any, *_: object, **__: object
) -> tuple[torch.Tensor, Any]:
    """Return the output [T, N, H] of a layer, its values undefined, and the last states."""
    is_lstm = isinstance(states, tuple)
    last = tuple(torch.empty_like(state) for state in (states if is_lstm else (states,)))
    output = x.new_empty(*x.shape[:-1], last[0].shape[-1])
    return output, last if is_lstm else last[0]


@dataclass
class _Last:
    """A last state, and the same value as a part of the output, if there is one."""

    state: Node
    part: Node | None = None


class _Emitter:
    """Builder of the nodes replacing one of torch's ops, before it."""

    def __init__(self, module: GraphModule, node: Node, kind: _Kind) -> None:
        self._module, self._node, self._kind = module, node, kind

    def call(self, target: Any, *args: Any) -> Node:
        node = self._node.graph.call_function(target, args)
        values = map_arg(args, lambda n: n.meta["val"])
        node.meta = {**self._node.meta, "val": target(*values)}
        return node

    def at(self, value: Node, dim: int, index: int) -> Node:
        """Return a part of a value; a value with one part is the part itself."""
        if value.meta["val"].shape[dim] == 1:
            return self.call(_aten.squeeze.dim, value, dim)
        return self.call(_aten.select.int, value, dim, index)

    def own(self, state: Node, index: int | None = None) -> Node:
        """Return a state [N, H], or one layer's from [layers, N, H].

        A constant is copied: it then has the quantization of this state alone.
        """
        constant = tensor_constant(self._module, state)
        if constant is None:
            return state if index is None else self.at(state, 0, index)
        value = constant.clone() if index is None else constant[index].clone()
        name = f"{self._node.name}_state"
        while hasattr(self._module, name):
            name += "_"
        self._module.register_buffer(name, value)
        node = self._node.graph.get_attr(name)
        node.meta["val"] = state.meta["val"] if index is None else state.meta["val"][index]
        return node

    def layer(
        self,
        x: Node,
        states: Sequence[Node],
        weights: Sequence[Node],
        reverse: bool = False,
        batch_first: bool = False,
    ) -> tuple[Node, list[_Last]]:
        """Return the output and the last states of one layer in one direction."""
        kind = self._kind
        four = [*weights, None, None][:4]
        call = self.call(kind.op, x, *states, *four, reverse, batch_first, *kind.arguments)
        output, *last = (self.call(operator.getitem, call, i) for i in range(1 + kind.states))
        part = self.at(output, int(batch_first), 0 if reverse else -1)
        return output, [_Last(last[0], part), *map(_Last, last[1:])]

    def projected(
        self,
        x: Node,
        states: Sequence[Node],
        weights: Sequence[Node],
        reverse: bool,
        batch_first: bool,
    ) -> tuple[Node, list[_Last]]:
        """Return `layer` for an LSTM whose last weight projects the hidden state."""
        *own, by = weights
        first = tensor_constant(self._module, states[0])
        hidden, projection = (
            cast(torch.Tensor, tensor_constant(self._module, weight)) for weight in (own[1], by)
        )
        # The pseudoinverse gives the smallest of all matching states.
        undone = torch.linalg.pinv(projection)
        if first is None:
            weight = constant(self._module, self._node, "first_weight", undone)
            start = self.call(_aten.linear.default, states[0], weight)
        else:
            start = constant(self._module, self._node, "first_hidden", first @ undone.T)
        recurrent = constant(self._module, self._node, "hidden_weight", hidden @ projection)
        output, (_, *last) = self.layer(
            x, [start, *states[1:]], [own[0], recurrent, *own[2:]], reverse, batch_first
        )
        output = self.call(_aten.linear.default, output, by)
        part = self.at(output, int(batch_first), 0 if reverse else -1)
        return output, [_Last(part, part), *last]

    def stacked(self, states: Sequence[Node]) -> Node:
        """Return [layers, N, H] from tensors [N, H]."""
        rows = [self.call(_aten.unsqueeze.default, state, 0) for state in states]
        return rows[0] if len(rows) == 1 else self.call(_aten.cat.default, rows, 0)


class _Splitter:
    def __init__(self, module: GraphModule) -> None:
        self._module = module
        self._parts: dict[Node, Node] = {}  # last state: the same value from the output

    def run(self) -> int:
        graph = self._module.graph
        count = 0
        for node in list(graph.nodes):
            if node.target not in KEPT:
                continue
            with graph.inserting_before(node):
                if node.target in _LAYERS:
                    is_split = self._split_layers(node, _LAYERS[node.target])
                else:
                    is_split = self._split_cell(node, _CELLS[node.target])
            if is_split:  # torch's own op has a seed, for dropout: it would never count as dead
                for unread in (*results_of(node), *([] if gives_one(node) else [node])):
                    graph.erase_node(unread)
                count += 1
        compute_with(self._module, self._parts, KEPT)
        drop_dead_code(graph)
        graph.lint()
        self._module.recompile()
        return count

    def _split_layers(self, node: Node, kind: _Kind) -> bool:
        args: Any = node.args
        x, given, flat, biases, layers, _, _, bidirectional, batch_first = args
        states = given if kind.states == 2 else [given]
        directions = 2 if bidirectional else 1
        count = layers * directions
        per_layer = len(flat) // count
        projects = per_layer == (5 if biases else 3)
        if not self._are_constants(flat) or per_layer not in (2, 3, 4, 5):
            return False
        emit = _Emitter(self._module, node, kind)
        lasts = []
        for layer in range(layers):
            outputs = []
            for index in range(layer * directions, (layer + 1) * directions):
                own = [emit.own(state, index) for state in states]
                weights = flat[index * per_layer : (index + 1) * per_layer]
                reverse = index > layer * directions
                layer_of = emit.projected if projects else emit.layer
                output, last = layer_of(x, own, weights, reverse, batch_first)
                outputs.append(output)
                lasts.append(last)
            x = outputs[0] if directions == 1 else emit.call(_aten.cat.default, outputs, 2)
        self._replace(emit, node, x, list(zip(*lasts, strict=True)))
        return True

    def _split_cell(self, node: Node, kind: _Kind) -> bool:
        """Split a cell: it is a sequence of one step."""
        args: Any = node.args
        x, given, *weights = args
        states = given if kind.states == 2 else [given]
        weights = [w for w in weights if w is not None]
        if not self._are_constants(weights):
            return False
        emit = _Emitter(self._module, node, kind)
        own = [emit.own(state) for state in states]
        sequence = emit.call(_aten.unsqueeze.default, x, 0)
        _, last = emit.layer(sequence, own, weights)
        self._parts |= {s.state: s.part for s in last if s.part is not None}
        made = [s.state for s in last]
        if gives_one(node):
            node.replace_all_uses_with(made[0])
        for result in [] if gives_one(node) else results_of(node):
            result.replace_all_uses_with(made[taken_from(result)[1]])
        return True

    def _are_constants(self, weights: Sequence[Node]) -> bool:
        return all(tensor_constant(self._module, weight) is not None for weight in weights)

    def _replace(
        self, emit: _Emitter, node: Node, output: Node, lasts: Sequence[Sequence[_Last]]
    ) -> None:
        """Make users of an op over a sequence read the output.

        Users of last states get those of all layers, or of one selected layer.
        """
        for result in results_of(node):
            index = taken_from(result)[1]
            if index == 0:
                result.replace_all_uses_with(output)
                continue
            rows = lasts[index - 1]
            for user in list(result.users):
                if user.target is _aten.select.int and user.args[1] == 0:
                    row = rows[user.args[2]]  # type: ignore[index]
                    self._stand_for(user, row)
            stack = emit.stacked([row.state for row in rows])
            parts = [row.part for row in rows if row.part is not None]
            self._stand_for(result, _Last(stack, emit.stacked(parts) if parts else None))

    def _stand_for(self, node: Node, last: _Last) -> None:
        node.replace_all_uses_with(last.state)
        if last.part is not None:
            self._parts[last.state] = last.part


def split_recurrent(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many ops it split."""
    return _Splitter(module).run()
