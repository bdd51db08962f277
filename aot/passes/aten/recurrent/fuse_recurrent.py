# SPDX-License-Identifier: Apache-2.0
"""Pattern fusion of torch's LSTM, GRU, RNN and their cells from the steps of torch's
decompositions: programs come in this form from `run_decompositions`.

Matches ops that the program assigns to one call of such a module. They must read the module's
parameters by their names. Both forms run on the same random values; this verifies the op, and finds
its inputs and results. If the verification fails, the steps are left, with a warning. Examples are
unbatched inputs, and users' modules with these parameters.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from absl import logging
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import tensor_constant
from aot.dialect.results import take
from aot.passes.aten.build import call, constant
from aot.passes.aten.recurrent import split_recurrent

_aten = torch.ops.aten
_TOLERANCE = 1e-5
_PARAMETER = re.compile(r"(weight|bias)_(ih|hh|hr)(?:_l(\d+)(_reverse)?)?")
_ORDER = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
"""Order of a layer's parameters in torch's ops."""


@dataclass(frozen=True)
class _Kind:
    """One of torch's modules.

    Attributes:
      ops: its possible ops, the more likely one first.
      states: number of its states.
      is_cell: it does one step.
    """

    ops: tuple[Any, ...]
    states: int
    is_cell: bool


_PLACE = "torch.nn.modules.rnn."
_KINDS = {
    f"{_PLACE}LSTM": _Kind((_aten.lstm.input,), 2, False),
    f"{_PLACE}GRU": _Kind((_aten.gru.input,), 1, False),
    f"{_PLACE}RNN": _Kind((_aten.rnn_tanh.input, _aten.rnn_relu.input), 1, False),
    f"{_PLACE}LSTMCell": _Kind((_aten.lstm_cell.default,), 2, True),
    f"{_PLACE}GRUCell": _Kind((_aten.gru_cell.default,), 1, True),
    f"{_PLACE}RNNCell": _Kind((_aten.rnn_tanh_cell.default, _aten.rnn_relu_cell.default), 1, True),
}


def fuse_recurrent(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many calls of modules are whole again."""
    calls: dict[tuple[str, str], list[Node]] = {}
    for node in module.graph.nodes:
        stack = node.meta.get("nn_module_stack")
        if node.op != "call_function" or not stack:
            continue
        key, (path, kind) = list(stack.items())[-1]
        if kind in _KINDS:
            calls.setdefault((f"{key} {path}", kind), []).append(node)
    count = 0
    for (name, kind), nodes in calls.items():
        if any(node.target in split_recurrent.KEPT for node in nodes):
            continue
        with split_recurrent.steps_unseen():
            is_whole = _Call(module, nodes, _KINDS[kind]).make_whole()
        count += is_whole
        if not is_whole:
            logging.warning(
                "`%s` (%s) is written out in %d ops, and slow: lower the program as it was before "
                "run_decompositions(), or the module",
                name.partition(" ")[2],
                kind.removeprefix(_PLACE),
                len(nodes),
            )
    return count


@dataclass(frozen=True)
class _Whole:
    """Possible op of a call.

    Attributes:
      op: of torch's.
      values: inputs of the call: the input, and the states if they are given.
      rest: the arguments after the states.
    """

    op: Any
    values: tuple[Node, ...]
    rest: tuple[Any, ...]


class _Call:
    """The ops of one call of a module."""

    def __init__(self, module: GraphModule, nodes: Sequence[Node], kind: _Kind) -> None:
        self._module, self._nodes, self._kind = module, nodes, kind
        inside = set(nodes)
        self._results = [n for n in nodes if any(user not in inside for user in n.users)]
        self._parameters: dict[tuple[int, bool], dict[str, Node]] = {}
        self._values: list[Node] = []
        for read in dict.fromkeys(r for node in nodes for r in node.all_input_nodes):
            if read not in inside:
                self._sort(read)

    def _sort(self, read: Node) -> None:
        name = _PARAMETER.fullmatch(str(read.target).rpartition(".")[2])
        if read.op != "get_attr" or name is None:
            self._values.append(read)
            return
        what, side, layer, reverse = name.groups()
        direction = self._parameters.setdefault((int(layer or 0), reverse is not None), {})
        direction[f"{what}_{side}"] = read

    def make_whole(self) -> bool:
        """Replace the steps by their op; return False if there is none."""
        if not self._values or not self._results or not self._parameters:
            return False
        generator = torch.Generator().manual_seed(1)
        known: dict[Node, Any] = {}
        for value in self._values:
            drawn = torch.randn(tuple(value.meta["val"].shape), generator=generator)
            known[value] = drawn.to(value.meta["val"].dtype)
        ours = self._run(dict(known))
        for whole in self._possible():
            found = self._positions(whole, known, ours)
            if found is not None:
                self._replace(whole, found)
                return True
        return False

    def _run(self, known: dict[Node, Any]) -> dict[Node, Any]:
        """Return the values of all ops."""
        for node in self._nodes:
            args, kwargs = map_arg((node.args, node.kwargs), lambda n: self._known(n, known))
            known[node] = node.target(*args, **kwargs)  # type: ignore[operator]
        return known

    def _known(self, node: Node, known: dict[Node, Any]) -> Any:
        return known[node] if node in known else tensor_constant(self._module, node)

    def _possible(self) -> Iterator[_Whole]:
        layers = [self._parameters[key] for key in sorted(self._parameters)]
        parameters = [layer[name] for layer in layers for name in _ORDER if name in layer]
        has_bias = "bias_ih" in layers[0]
        given = len(self._values) - 1
        if given not in (0, self._kind.states):
            return
        for values, op in itertools.product(itertools.permutations(self._values), self._kind.ops):
            if self._kind.is_cell:
                yield _Whole(op, values, (*parameters,))
                continue
            count = 1 + max(layer for layer, _ in self._parameters)
            reverse = any(reverse for _, reverse in self._parameters)
            for batch_first in (False, True):
                tail = (has_bias, count, 0.0, False, reverse, batch_first)
                yield _Whole(op, values, (parameters, *tail))

    def _arguments(self, whole: _Whole, states: Sequence[Any]) -> tuple[Any, ...]:
        several = self._kind.states > 1
        return (whole.values[0], list(states) if several else states[0], *whole.rest)

    def _zeros(self, whole: _Whole) -> list[torch.Tensor]:
        """Return zeros for first states that are not given."""
        shape = whole.values[0].meta["val"].shape
        layer = self._parameters[0, False]
        hidden = int(layer["weight_hh"].meta["val"].shape[1])
        sizes = [hidden, int(layer["weight_ih"].meta["val"].shape[0]) // 4][: self._kind.states]
        if self._kind.is_cell:
            return [torch.zeros(shape[0], size) for size in sizes]
        batch = shape[0 if whole.rest[-1] else 1]
        return [torch.zeros(len(self._parameters), batch, size) for size in sizes]

    def _positions(
        self, whole: _Whole, known: dict[Node, Any], ours: dict[Node, Any]
    ) -> list[int] | None:
        """Return the index of the op's result for each of the call's; None if one has no match."""
        rank = 2 if self._kind.is_cell else 3
        if any(value.meta["val"].dim() != rank for value in whole.values):
            return None
        zeros = self._zeros(whole)
        states = [*whole.values[1:]] or zeros
        width = self._parameters[0, False]["weight_ih"].meta["val"].shape[1]
        shapes = [tuple(whole.values[0].meta["val"].shape[-1:])]
        shapes += [tuple(value.meta["val"].shape) for value in whole.values[1:]]
        if shapes != [(width,), *(tuple(zero.shape) for zero in zeros)][: len(shapes)]:
            return None
        arguments = map_arg(self._arguments(whole, states), lambda n: self._known(n, known))
        theirs = whole.op(*arguments)
        theirs = (theirs,) if isinstance(theirs, torch.Tensor) else tuple(theirs)
        found = []
        for result in self._results:
            near = [i for i, t in enumerate(theirs) if _is_near(ours[result], t)]
            if not near:
                return None
            found.append(near[0])
        return found

    def _replace(self, whole: _Whole, positions: Sequence[int]) -> None:
        graph, like = self._module.graph, self._results[0]
        order = {node: place for place, node in enumerate(graph.nodes)}
        parameters = [n for layer in self._parameters.values() for n in layer.values()]
        last = max(order[node] for node in (*self._values, *parameters))
        states: list[Node] = [*whole.values[1:]]
        with graph.inserting_before(next(n for n in self._nodes if order[n] > last)):
            if not states:
                zeros = self._zeros(whole)
                states = [constant(self._module, like, "zeros", zero) for zero in zeros]
            made = call(like, whole.op, *self._arguments(whole, states))
            several = not isinstance(made.meta["val"], torch.Tensor)
            for result, position in zip(self._results, positions, strict=True):
                part = take(graph, made, position) if several else made
                if several:
                    part.meta = {**result.meta, "val": made.meta["val"][position]}
                result.replace_all_uses_with(
                    part, delete_user_cb=lambda user: user not in self._nodes
                )
        for node in reversed(self._nodes):
            graph.erase_node(node)


def _is_near(a: Any, b: torch.Tensor) -> bool:
    if not isinstance(a, torch.Tensor) or a.shape != b.shape:
        return False
    return bool(((a - b).abs() <= _TOLERANCE).all())
