# SPDX-License-Identifier: Apache-2.0
"""A graph of the dialect as a .tflite file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.backends.tflite.file import File
from aot.dialect.graph import (
    Edge,
    Origin,
    arguments,
    border_nodes,
    dialect_op,
    edge_of,
    inputs_of,
    is_channels_last,
    quantization_of,
    state_nodes,
    state_of,
    tensor_constant,
)
from aot.dialect.quantization import Quantization
from aot.dialect.results import is_result, results_of
from aot.errors import LoweringError, Problem, describe, place
from aot.importers.tflite.arithmetic import ACTIVATIONS, activation_range, float32

_ACTIVATION_NUMBERS = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}


_HINT = 'a target without a .tflite file, such as "cortex-m", which runs it'
_STEPS = "its steps written out, with linear layers, sigmoid and tanh"
_HINTS = {
    "pl.gru": f"{_STEPS}; or {_HINT}",
    "pl.lstm": f"{_STEPS}; or {_HINT}",
    "pl.rnn": f"{_STEPS}; or {_HINT}",
    "pl.log_softmax": f"softmax, whose order is the same; or {_HINT}",
    "pl.lut": "a function that TFLite has, such as hardswish for SiLU or GELU, or two functions "
    f"with a layer between them; or {_HINT}",
    "pl.normalize": f"BatchNorm, which becomes a part of the layer before it; or {_HINT}",
    "pl.prelu": f"LeakyReLU, or relu(x) - slope * relu(-x); or {_HINT}",
}


class Refused(Exception):
    """Why a node has no form in TFLite's format that computes its bits; one phrase."""


class Export:
    """The file of a graph while it is made; emitters are given it, with a node and its arguments.

    Attributes:
      file: what is written to.
      kept: the states that an op keeps for itself.
    """

    def __init__(self, module: GraphModule) -> None:
        self.file = File()
        self.kept: set[Node] = set()
        self._module = module
        self._tensors: dict[Node, int] = {}
        self._adopted: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._arguments: list[tuple[Node, dict[str, Any]]] = []

    def shape(self, node: Node) -> tuple[int, ...]:
        """Of the bytes as they lie: what is channels_last is [N, H, W, C]."""
        value = node.meta["val"]
        if is_channels_last(value):
            value = value.permute(0, 2, 3, 1)
        return tuple(value.shape)

    def tensor(self, node: Node) -> int:
        """Of a value that was given, or a constant."""
        if node not in self._tensors:
            data = self.constant(node)
            self._tensors[node] = self._new(node.name, data.shape, data.dtype, edge_of(node), data)
        return self._tensors[node]

    def give(self, node: Node, tensor: int | None = None) -> int:
        """The tensor for a node's value: a new one, or one that there is."""
        if tensor is None:
            value = node.meta["val"]
            tensor = self._new(node.name, self.shape(node), value.dtype, edge_of(node))
        self._tensors[node] = tensor
        return tensor

    def like(self, name: str, shape: Sequence[int], node: Node) -> int:
        """A value of another shape between two ops, quantized as a node's."""
        return self._new(name, shape, node.meta["val"].dtype, edge_of(node))

    def _new(
        self,
        name: str,
        shape: Sequence[int],
        dtype: torch.dtype,
        edge: Edge,
        data: torch.Tensor | None = None,
    ) -> int:
        kind = str(dtype).removeprefix("torch.")
        of = edge.quantization
        if of is not None and float32(of.scale) != of.scale:
            raise Refused(f"the scale {of.scale!r} is no float32 number")
        scales = () if of is None else (of.scale,)
        zero_point = 0 if of is None else of.zero_point
        array = None if data is None else data.contiguous().numpy()
        return self.file.tensor(name, shape, kind, scales, zero_point, data=array)

    def constant(self, node: Any) -> torch.Tensor:
        data = tensor_constant(self._module, node)
        if data is None:
            raise Refused(f"`{node}` is computed, where TFLite takes a constant only")
        return data

    def adopt(self, node: Node, values: torch.Tensor) -> None:
        """Notes TFLite's own values for a constant, for `finish`."""
        self._adopted.append((self.constant(node), values))

    def adopt_arguments(self, node: Node, **values: Any) -> None:
        """Notes TFLite's own numbers for arguments, for `finish`."""
        self._arguments.append((node, values))

    def finish(self) -> None:
        """Puts what was adopted into the graph, in place."""
        for constant, values in self._adopted:
            constant.copy_(values)
        for node, changed in self._arguments:
            node.args, node.kwargs = tuple((arguments(node) | changed).values()), {}

    def is_constant(self, node: Any) -> bool:
        return tensor_constant(self._module, node) is not None

    def integers(self, name: str, values: Sequence[int], shape: Sequence[int] = ()) -> int:
        """A constant of int32, by default of one dimension."""
        array = torch.tensor(list(values), dtype=torch.int32).numpy()
        return self.file.tensor(name, shape or [len(values)], "int32", data=array)

    def one(self, node: Node, value: int) -> int:
        """A constant of one integer, quantized as a node's value."""
        of = quantization_of(node)
        data = torch.tensor([value], dtype=of.type.dtype).numpy()
        return self.file.tensor("value", [1], str(of.type), [of.scale], of.zero_point, data=data)

    def activation(self, node: Node, a: dict[str, Any]) -> int:
        """The fused activation that lets the integers of a node's clamp through."""
        of = quantization_of(node)
        limits = a["activation_min"], a["activation_max"]
        for name in ACTIVATIONS:
            if activation_range(name, of) == limits:
                return _ACTIVATION_NUMBERS[name]
        raise Refused(f"its clamp to {list(limits)} is none of {', '.join(ACTIVATIONS)}")

    def quantization(self, node: Node) -> Quantization:
        return quantization_of(node)


def to_tflite(module: GraphModule) -> bytes:
    """The file of a dialect graph as a whole: TFLite Micro computes the same bits (docs/tflite.md
    says for which ops it does not quite).

    Args:
      module: verified; it may have been through the rewrites. Functions of one value whose table
        differs from that of TFLite's own function by 1 get that one, in place: the graph is the
        reference of the file.

    Raises:
      LoweringError: with all ops that have no such form, where they are, and why.
    """
    # Emitters use what is above.
    from aot.backends.tflite.emitters.patterns import whole
    from aot.backends.tflite.emitters.recurrence import keeps_its_own

    export = Export(module)
    problems: list[Problem] = []
    inputs, outputs = border_nodes(module)
    every = state_nodes(module)
    export.kept = {old for old, new in every if keeps_its_own(old, new)}
    states = [(old, new) for old, new in every if old not in export.kept]
    patterns = whole(module)
    inside = {inner for _, nodes in patterns.values() for inner in nodes}
    for node in module.graph.nodes:
        if node.op not in ("placeholder", "call_function") or node in inside | export.kept:
            continue
        try:
            if node.op == "placeholder":
                _placeholder(export, node, first=bool(states) and node is states[0][0])
            elif node in patterns:
                patterns[node][0](export)
            elif not is_result(node):
                _emit(export, node)
        except (Refused, ValueError) as reason:
            problems.append(_problem(node, str(reason)))
            for result in (node, *results_of(node)) if node.op == "call_function" else (node,):
                export.give(result, 0)
    if problems:
        what = "1 op has" if len(problems) == 1 else f"{len(problems)} ops have"
        raise LoweringError(f"{what} no form in a .tflite file with the same bits:", problems)
    for old, new in states:
        handle = _handle(export.file, state_of(old).name)
        export.file.op("ASSIGN_VARIABLE", [handle, export.tensor(new)], [], "AssignVariableOptions")
    export.finish()
    export.file.border([export.tensor(n) for n in inputs], [export.tensor(n) for n in outputs])
    if states:
        _initial_graph(export, [old for old, _ in states])
    return export.file.bytes()


def refusal(node: Node) -> str:
    """Why a node of the dialect has no form in a file, "" if it has one; nothing is changed."""
    module = node.graph.owning_module
    assert module is not None
    export = Export(module)
    try:
        for source in inputs_of(node):
            export.give(source)
        _emit(export, node)
    except (Refused, ValueError) as reason:
        return str(reason)
    return ""


def _emit(export: Export, node: Node) -> None:
    # Emitters use what is above.
    from aot.backends.tflite.emitters import EMITTERS

    op = dialect_op(node)
    if op is None or op.name not in EMITTERS:
        raise Refused("TFLite has no op for it")
    EMITTERS[op.name](export, node, arguments(node))


def _placeholder(export: Export, node: Node, first: bool) -> None:
    """An input, or a state; the first of those is read once all are initialized."""
    tensor = export.give(node)
    if "state" not in node.meta:
        return
    if first:
        export.file.op("CALL_ONCE", [], [], "CallOnceOptions", InitSubgraphIndex=1)
    handle = _handle(export.file, state_of(node).name)
    export.file.op("READ_VARIABLE", [handle], [tensor], "ReadVariableOptions")


def _handle(file: File, name: str) -> int:
    handle = file.tensor(f"{name}_handle", (), "resource")
    file.op("VAR_HANDLE", [], [handle], "VarHandleOptions", SharedName=name)
    return handle


def _initial_graph(export: Export, states: Sequence[Node]) -> None:
    export.file.graph()
    for node in states:
        state, of = state_of(node), edge_of(node).quantization
        handle = _handle(export.file, state.name)
        value = export.file.tensor(
            f"{state.name}_initial",
            state.initial.shape,
            str(state.initial.dtype).removeprefix("torch."),
            () if of is None else (of.scale,),
            0 if of is None else of.zero_point,
            data=state.initial.contiguous().numpy(),
        )
        export.file.op("ASSIGN_VARIABLE", [handle, value], [], "AssignVariableOptions")
    export.file.border([], [])


def _problem(node: Node, reason: str) -> Problem:
    origin = node.meta.get("origin", Origin())
    op = dialect_op(node)
    name = f"pl.{op.name}" if op is not None else str(node.target)
    written = f"{', '.join(origin.ops)} ({name})" if origin.ops else name
    where = place(origin.module, origin.source)
    hint = _HINTS.get(name, f"{_HINT}; or write it with ops that TFLite has (docs/tflite.md)")
    return Problem(written, describe(node.meta["val"]), where, reason, hint)
