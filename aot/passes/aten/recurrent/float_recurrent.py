# SPDX-License-Identifier: Apache-2.0
"""Writes float32 recurrent layers step by step, in ops with a float kernel. One linear layer over
the sequence reads the input; the rest of a step reads the state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.results import results_of, taken_from
from aot.errors import keep_names
from aot.passes.aten.build import call
from aot.rules import recurrent_ops

_aten = torch.ops.aten


def float_recurrent(module: GraphModule, stays_float: Callable[[Node], bool]) -> int:
    """Rewrite the graph in place; return how many layers it wrote out."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target not in recurrent_ops.OPS or not stays_float(node):
            continue
        results = results_of(node)
        keep_names(results[0])
        with module.graph.inserting_before(node):
            made = _Layer(node, results[0]).run()
        for result in results:
            result.replace_all_uses_with(made[taken_from(result)[1]])
            module.graph.erase_node(result)
        module.graph.erase_node(node)
        count += 1
    return count


class _Layer:
    """A layer in one direction.

    Args:
      node: the float op.
      like: a float32 result of it: new nodes have its origin.
    """

    def __init__(self, node: Node, like: Node) -> None:
        self._node, self._like = node, like

    def _call(self, target: Any, *args: Any) -> Node:
        return call(self._like, target, *args)

    def _of(self, function: Any, x: Node) -> Node:
        return self._call(function.default, x)

    def _add(self, a: Node, b: Node) -> Node:
        return self._call(_aten.add.Tensor, a, b)

    def _mul(self, a: Node, b: Node) -> Node:
        return self._call(_aten.mul.Tensor, a, b)

    def _parts(self, x: Node, count: int) -> list[Node]:
        size = x.meta["val"].shape[1] // count
        return [
            self._call(_aten.slice.Tensor, x, 1, i * size, (i + 1) * size) for i in range(count)
        ]

    def run(self) -> list[Node]:
        """Return the output and the last states."""
        args: Any = self._node.args
        count = 2 if self._node.target is recurrent_ops.LSTM else 1
        x, states = args[0], list(args[1 : 1 + count])
        weight, hidden_weight, bias, hidden_bias, reverse, batch_first, *more = args[1 + count :]
        time = int(batch_first)
        read = self._call(_aten.linear.default, x, weight, bias)
        steps = range(x.meta["val"].shape[time])
        outputs: list[Node] = []
        for t in reversed(steps) if reverse else steps:
            of_input = self._call(_aten.select.int, read, time, t)
            of_state = self._call(_aten.linear.default, states[0], hidden_weight, hidden_bias)
            states = self._next(of_input, of_state, states, bool(more and more[0]))
            outputs.append(self._call(_aten.unsqueeze.default, states[0], time))
        ordered = outputs[::-1] if reverse else outputs
        output = self._call(_aten.cat.default, ordered, time) if len(ordered) > 1 else ordered[0]
        return [output, *states]

    def _next(self, a: Node, b: Node, states: list[Node], relu: bool) -> list[Node]:
        """Return the states after a step, from the gates' parts of the input and of the hidden
        state.
        """
        if self._node.target is recurrent_ops.LSTM:
            i, f, g, o = self._parts(self._add(a, b), 4)
            kept = self._mul(self._of(_aten.sigmoid, f), states[1])
            new = self._mul(self._of(_aten.sigmoid, i), self._of(_aten.tanh, g))
            c = self._add(kept, new)
            return [self._mul(self._of(_aten.sigmoid, o), self._of(_aten.tanh, c)), c]
        if self._node.target is recurrent_ops.RNN:
            return [self._of(_aten.relu if relu else _aten.tanh, self._add(a, b))]
        (h,) = states
        (a_r, a_z, a_n), (b_r, b_z, b_n) = self._parts(a, 3), self._parts(b, 3)
        r, z = (self._of(_aten.sigmoid, self._add(*pair)) for pair in ((a_r, b_r), (a_z, b_z)))
        n = self._of(_aten.tanh, self._add(a_n, self._mul(r, b_n)))
        less = self._call(_aten.sub.Tensor, h, n)
        return [self._add(n, self._mul(z, less))]
