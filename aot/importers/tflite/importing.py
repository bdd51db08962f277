# SPDX-License-Identifier: Apache-2.0
"""A .tflite file as a graph of the dialect."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch.fx import Graph as FxGraph
from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, Origin, State, drop_dead_code, edge_of, shape_of
from aot.dialect.verifier import VerificationError, verify
from aot.errors import LoweringError, raised
from aot.importers.tflite.call import OperatorCall, Unsupported, dtype_of, edge_for, named
from aot.importers.tflite.conversion import conversion_hint
from aot.importers.tflite.file import DAMAGE, TfliteGraph, TfliteOperator, TfliteTensor, read
from aot.importers.tflite.folding import FOLDED, folded
from aot.importers.tflite.ops import BUILTINS
from aot.importers.tflite.quantizations import OF_UINT8, prepared
from aot.importers.tflite.variables import ASSIGN, CALL_ONCE, HANDLE, READ, Variables

_COMPILED = "CUSTOM ethos-u"  # one op, with a program for the NPU


def import_tflite(data: bytes) -> GraphModule:
    """Return the verified dialect graph of a file.

    Inputs and outputs are the file's own, with its order and shapes: images are [N, H, W, C].

    Raises:
      LoweringError: it is no .tflite file, or damaged; or an op cannot be imported. The
        text has the op's index and name, and the supported ops.
    """
    main, *others = read(data)
    try:
        graphs = [prepared(main), *(prepared(graph) for graph in others)]
        module = _Importer(graphs).run()
        verify(module, "import")
    except DAMAGE as error:
        raise LoweringError(f"the .tflite file is damaged: {raised(error)}") from error
    except VerificationError as error:
        raise LoweringError(f"the .tflite file cannot be imported: {error}") from error
    return module


class _Importer:
    def __init__(self, graphs: Sequence[TfliteGraph]) -> None:
        self._graph = graphs[0]
        self._tensors = list(self._graph.tensors)
        self._module = GraphModule(torch.nn.Module(), FxGraph())
        self._builder = Builder(self._module, self._module.graph)
        self._values: dict[int, Node] = {}
        self._variables = Variables(graphs)
        self._states: dict[Node, Node] = {}

    def run(self) -> GraphModule:
        tensors = self._tensors
        for place, index in enumerate(self._graph.inputs):
            self._values[index] = self._input(place, tensors[index])
        for variable in self._variables.found:
            node = self._placeholder(variable.node_name, variable.tensor)
            initial = variable.initial.to(node.meta["val"].dtype)
            node.meta["state"] = State(variable.name, initial)
            variable.value = node
        before = [variable.value for variable in self._variables.found]
        for place, operator in enumerate(self._graph.operators):
            self._operator(place, operator)
        outputs = [self._output(index) for index in self._graph.outputs]
        states = self._states_read(before, outputs) + [*self._states.values()]
        self._module.meta["unsigned"] = [
            f"{kind} {place}"
            for kind, indices in (("input", self._graph.inputs), ("output", self._graph.outputs))
            for place, index in enumerate(indices)
            if tensors[index].was_unsigned
        ]
        node = self._module.graph.output((*outputs, *states))
        node.meta["origin"] = Origin()
        drop_dead_code(self._module.graph)
        self._module.graph.lint()
        self._module.recompile()
        return self._module

    def _states_read(self, before: Sequence[Node | None], outputs: Sequence[Node]) -> list[Node]:
        """Return the new values of variables; those with no reader of the old value are dropped."""
        values: dict[Node, Node] = {}
        for old, variable in zip(before, self._variables.found, strict=True):
            assert old is not None and variable.value is not None  # each has a placeholder
            values[old] = variable.value
        while True:
            others = {new for old, new in values.items() if new is not old}
            unread = {old for old in values if not old.users} - others - set(outputs)
            if not unread:
                return list(values.values())
            for old in unread:
                del values[old]
                self._module.graph.erase_node(old)

    def _input(self, place: int, tensor: TfliteTensor) -> Node:
        if tensor.index in self._values:
            raise LoweringError(f"input {place} of the .tflite file is listed twice")
        return self._placeholder(f"input_{place}", tensor)

    def _placeholder(self, name: str, tensor: TfliteTensor) -> Node:
        try:
            if math.prod(tensor.shape) == 0:
                raise Unsupported(f"{named(tensor)} has no elements")
            value = torch.empty(tensor.shape, dtype=dtype_of(tensor), device="meta")
            return self._builder.placeholder(name, value, edge_for(tensor))
        except Unsupported as reason:
            raise LoweringError(f"{name} of the .tflite file: {reason}") from reason

    def _output(self, index: int) -> Node:
        tensor = self._tensors[index]
        if index not in self._values and tensor.data is not None:
            raise LoweringError(
                f"output {named(tensor)} of the .tflite file is a constant, which needs no model"
            )
        if index not in self._values:
            raise LoweringError(f"no op of the .tflite file computes its output {named(tensor)}")
        return self._values[index]

    def _value(self, index: int) -> Node:
        """Return the node computing a tensor, or a constant."""
        tensor = self._tensors[index]
        if index not in self._values and tensor.data is not None:
            data = torch.from_numpy(np.array(tensor.data))
            return self._builder.constant("c_value", data, edge_for(tensor))
        if index not in self._values:
            raise Unsupported(f"{named(tensor)} is not computed")
        return self._values[index]

    def _operator(self, place: int, operator: TfliteOperator) -> None:
        where = f"op {place} {operator.name}"
        try:
            if operator.name in (HANDLE, READ, ASSIGN, CALL_ONCE):
                self._variables.run(operator, self._values, self._value)
                return
            if constants := folded(operator, self._tensors):
                self._define(constants)
                return
            if operator.name == _COMPILED:
                raise Unsupported(
                    "is a program that Vela made: give the .tflite file it was made of"
                )
            if operator.name not in BUILTINS:
                raise Unsupported(_unsupported(operator.name))
            _check_unsigned(operator, self._tensors)
            results = [self._tensors[i] for i in operator.outputs if i >= 0]
            origin = Origin((f"tflite.{operator.name}",), "", _place(place, operator, results))
            call = OperatorCall(
                operator, self._tensors, self._values, self._builder, origin, self._states
            )
            given = BUILTINS[operator.name](call)
            nodes = [given] if isinstance(given, Node) else list(given)
            for tensor, node in zip(call.outputs, nodes, strict=True):
                _check(tensor, node)
                self._check_new(tensor)
                self._values[tensor.index] = node
        except Unsupported as reason:
            hint = conversion_hint(self._tensors[i] for i in operator.inputs if i >= 0)
            raise LoweringError(f"{where}: {reason}{hint}") from reason
        # Contradicting arguments, found by the dialect's rules for shapes and factors.
        except (*DAMAGE, RuntimeError) as error:
            raise LoweringError(
                f"{where}: its arguments are inconsistent: {raised(error)}"
            ) from error

    def _define(self, constants: Sequence[TfliteTensor]) -> None:
        for tensor in constants:
            self._check_new(tensor)
            self._tensors[tensor.index] = tensor

    def _check_new(self, tensor: TfliteTensor) -> None:
        if tensor.index in self._values or self._tensors[tensor.index].data is not None:
            raise Unsupported(f"it computes {named(tensor)}, which another op computes")


def _unsupported(name: str) -> str:
    text = f"this op is not supported; supported are {', '.join(sorted(BUILTINS))}"
    return f"{text}; of constants and shapes: {', '.join(sorted(FOLDED))}"


def _check_unsigned(operator: TfliteOperator, tensors: Sequence[TfliteTensor]) -> None:
    """Refuse uint8 values of an op that calculates with them."""
    given = [tensors[i] for i in (*operator.inputs, *operator.outputs) if i >= 0]
    if operator.name not in OF_UINT8 and any(tensor.was_unsigned for tensor in given):
        raise Unsupported("calculates with uint8 values; only moves, QUANTIZE and DEQUANTIZE can")


def _place(place: int, operator: TfliteOperator, results: Sequence[TfliteTensor]) -> str:
    """Return an op in reports: its index, builtin and the name of its result."""
    name = results[0].name if results else ""
    return f"op {place} {operator.name}" + (f" ({name})" if name else "")


def _check(tensor: TfliteTensor, node: Node) -> None:
    """Check that a computed value matches its description in the file."""
    value = node.meta["val"]
    if shape_of(node) != tensor.shape or value.dtype is not dtype_of(tensor):
        raise Unsupported(
            f"gives {value.dtype}{list(shape_of(node))}, where {named(tensor)} is "
            f"{tensor.type}{list(tensor.shape)}"
        )
    if edge_of(node).quantization != edge_for(tensor).quantization:
        raise Unsupported(f"gives {edge_of(node).quantization}, but {named(tensor)} has another")
