# SPDX-License-Identifier: Apache-2.0
"""Variables of streaming models: VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, and CALL_ONCE, whose
graph gives them their first values. They become states of the dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from ethosu.vela.tflite.CallOnceOptions import CallOnceOptions
from ethosu.vela.tflite.VarHandleOptions import VarHandleOptions
from torch.fx import Node

from aot.errors import LoweringError
from aot.importers.tflite.call import Unsupported, edge_for, named
from aot.importers.tflite.file import TfliteGraph, TfliteOperator, TfliteTensor

HANDLE, READ, ASSIGN = "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"
CALL_ONCE = "CALL_ONCE"
STREAMING = (HANDLE, READ, ASSIGN, CALL_ONCE)


@dataclass(eq=False)
class Variable:
    """A variable of a streaming model.

    Attributes:
      name: in the file.
      node_name: of its placeholder.
      tensor: a tensor with its shape, type and quantization.
      initial: value before the first run.
      value: current value at this point of the graph.
    """

    name: str
    node_name: str
    tensor: TfliteTensor
    initial: torch.Tensor
    value: Node | None = None


def key_of(operator: TfliteOperator) -> str:
    options = operator.options(VarHandleOptions)
    if options is None:
        raise Unsupported("it lacks VarHandleOptions")
    names = [
        (text or b"").decode("utf-8", "replace")
        for text in (options.Container(), options.SharedName())
    ]
    return "/".join(name for name in names if name)


class Variables:
    """All variables read or assigned by the main graph.

    Attributes:
      found: in the order of their first use.
    """

    def __init__(self, graphs: Sequence[TfliteGraph]) -> None:
        self.found: list[Variable] = []
        self._by_name: dict[str, Variable] = {}
        self._by_handle: dict[int, Variable] = {}
        initial = self._initial(graphs)
        for place, (operator, name) in enumerate(_uses(graphs[0])):
            tensor = graphs[0].tensors[
                operator.outputs[0] if operator.name == READ else operator.inputs[1]
            ]
            if name in self._by_name:
                _check_same(self._by_name[name], tensor)
                continue
            value = initial.get(name)
            if value is None:  # TFLite Micro fills it with the zero point
                zero_point = tensor.zero_points[0] if tensor.zero_points else 0
                value = torch.full(tensor.shape, zero_point, dtype=torch.int64)
            if tuple(value.shape) != tensor.shape:
                raise LoweringError(f"variable {name!r} is initialized with a wrong shape")
            variable = Variable(name, f"state_{len(self.found)}", tensor, value)
            self.found.append(variable)
            self._by_name[name] = variable
            del place

    def _initial(self, graphs: Sequence[TfliteGraph]) -> dict[str, torch.Tensor]:
        """Return the values assigned by CALL_ONCE's graphs."""
        values: dict[str, torch.Tensor] = {}
        for place, operator in enumerate(graphs[0].operators):
            if operator.name != CALL_ONCE:
                continue
            where = f"op {place} {CALL_ONCE}"
            options = operator.options(CallOnceOptions)
            index = -1 if options is None else options.InitSubgraphIndex()
            if not 0 < index < len(graphs):
                raise LoweringError(f"{where}: graph {index} does not exist")
            graph = graphs[index]
            for inner in graph.operators:
                if inner.name not in (HANDLE, ASSIGN):
                    raise LoweringError(f"{where}: its graph has {inner.name}")
            for inner, name in _uses(graph):
                tensor = graph.tensors[inner.inputs[1]]
                if tensor.data is None:
                    raise LoweringError(f"{where}: {named(tensor)} must be a constant")
                values[name] = torch.from_numpy(tensor.data.copy())
        return values

    def run(
        self, operator: TfliteOperator, values: dict[int, Node], value: Callable[[int], Node]
    ) -> None:
        """Run one of STREAMING in the main graph.

        Args:
          operator: the operator.
          values: computed values so far, by tensor; read values are added there.
          value: returns a tensor's value, possibly a constant.
        """
        if operator.name == CALL_ONCE:
            return
        if operator.name == HANDLE:
            if variable := self._by_name.get(key_of(operator)):
                self._by_handle[operator.outputs[0]] = variable
            return
        variable = self._by_handle.get(operator.inputs[0])
        if variable is None:
            raise Unsupported("its variable has no handle")
        if operator.name == READ:
            assert variable.value is not None
            values[operator.outputs[0]] = variable.value
            return
        variable.value = value(operator.inputs[1])


def _uses(graph: TfliteGraph) -> list[tuple[TfliteOperator, str]]:
    """Read and assignments with the names of their variables."""
    handles: dict[int, str] = {}
    uses: list[tuple[TfliteOperator, str]] = []
    for place, operator in enumerate(graph.operators):
        try:
            if operator.name == HANDLE:
                _count(operator, 0, 1)
                handles[operator.outputs[0]] = key_of(operator)
            elif operator.name in (READ, ASSIGN):
                _count(operator, *((1, 1) if operator.name == READ else (2, 0)))
                if operator.inputs[0] not in handles:
                    raise Unsupported("its variable has no handle")
                uses.append((operator, handles[operator.inputs[0]]))
        except Unsupported as reason:
            raise LoweringError(f"op {place} {operator.name}: {reason}") from reason
    return uses


def _count(operator: TfliteOperator, inputs: int, outputs: int) -> None:
    given = (*operator.inputs, *operator.outputs)
    if (len(operator.inputs), len(operator.outputs)) != (inputs, outputs) or min(given) < 0:
        raise Unsupported(f"{len(operator.inputs)} inputs and {len(operator.outputs)} results")


def _check_same(variable: Variable, tensor: TfliteTensor) -> None:
    try:
        same = edge_for(variable.tensor) == edge_for(tensor)
    except Unsupported as reason:
        raise LoweringError(f"variable {variable.name!r}: {reason}") from reason
    if not same or (variable.tensor.shape, variable.tensor.type) != (tensor.shape, tensor.type):
        raise LoweringError(
            f"variable {variable.name!r} is {variable.tensor.type}{list(variable.tensor.shape)} "
            f"and {tensor.type}{list(tensor.shape)}, or of two quantizations"
        )
