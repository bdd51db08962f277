# SPDX-License-Identifier: Apache-2.0
"""Input of an importer of a builtin: one call of it, and the graph for its ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from ethosu.vela.tflite.ActivationFunctionType import ActivationFunctionType
from torch.fx import Node

from aot.dialect.graph import (
    NHWC,
    ROW_MAJOR,
    Builder,
    Edge,
    Origin,
    State,
    shape_of,
)
from aot.dialect.library import Op
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.importers.tflite.arithmetic import ACTIVATIONS
from aot.importers.tflite.file import TfliteOperator, TfliteTensor, names_of
from kernels.strided_copy.op_reshape import reshape

_DTYPES = {
    "INT8": torch.int8,
    "INT16": torch.int16,
    "INT32": torch.int32,
    "FLOAT32": torch.float32,
    "BOOL": torch.bool,
}
_QUANTIZED = {"INT8": INT8, "INT16": INT16}
_ACTIVATIONS = names_of(ActivationFunctionType)


class Unsupported(Exception):
    """Why a call cannot be imported; one phrase."""


def named(tensor: TfliteTensor) -> str:
    return f"tensor {tensor.index} `{tensor.name}`"


def dtype_of(tensor: TfliteTensor) -> torch.dtype:
    if tensor.type not in _DTYPES:
        raise Unsupported(f"{named(tensor)} is {tensor.type}; supported are {', '.join(_DTYPES)}")
    return _DTYPES[tensor.type]


def edge_for(tensor: TfliteTensor) -> Edge:
    """Return the dialect edge of a tensor."""
    layout = NHWC if len(tensor.shape) == 4 else ROW_MAJOR
    if tensor.type not in _QUANTIZED:
        dtype_of(tensor)
        return Edge(None, layout)
    if len(tensor.scales) != 1:
        what = "no scale" if not tensor.scales else f"{len(tensor.scales)} scales"
        raise Unsupported(f"{named(tensor)} is {tensor.type} with {what}: it needs one")
    of = Quantization(tensor.scales[0], tensor.zero_points[0], _QUANTIZED[tensor.type])
    if of.problem:
        raise Unsupported(f"{named(tensor)} has {of.problem}")
    return Edge(of, layout)


class OperatorCall:
    """One call of a builtin.

    Attributes:
      name: of the builtin.
      builder: of the graph.
      origin: of all nodes made for it.
    """

    def __init__(
        self,
        operator: TfliteOperator,
        tensors: Sequence[TfliteTensor],
        values: dict[int, Node],
        builder: Builder,
        origin: Origin,
        states: dict[Node, Node],
    ) -> None:
        self.name = operator.name
        self.builder = builder
        self.origin = origin
        self._operator = operator
        self._tensors = tensors
        self._values = values
        self._states = states

    @property
    def count(self) -> int:
        """Return the number of inputs."""
        return len(self._operator.inputs)

    @property
    def outputs(self) -> list[TfliteTensor]:
        return [self._tensors[i] for i in self._operator.outputs]

    @property
    def output(self) -> TfliteTensor:
        """Return the output of a call with one result."""
        if len(self._operator.outputs) != 1 or self._operator.outputs[0] < 0:
            raise Unsupported(f"it has {len(self._operator.outputs)} results; one is expected")
        return self.outputs[0]

    @property
    def edge(self) -> Edge:
        """Return the edge of the only result."""
        return edge_for(self.output)

    @property
    def quantization(self) -> Quantization:
        """Return the edge of the only result."""
        return self.quantized(self.edge.quantization)

    def quantized(self, of: Quantization | None) -> Quantization:
        if of is None:
            raise Unsupported(
                "its values are float or plain integers; int8 or int16 with a scale are needed"
            )
        return of

    def of(self, x: Node) -> Quantization:
        return self.quantized(x.meta["edge"].quantization)

    def has(self, index: int) -> bool:
        return index < self.count and self._operator.inputs[index] >= 0

    def tensor(self, index: int) -> TfliteTensor:
        if not self.has(index):
            raise Unsupported(f"it lacks input {index}")
        return self._tensors[self._operator.inputs[index]]

    def value(self, index: int) -> Node:
        """Return an input: the node computing it, or a constant."""
        tensor = self.tensor(index)
        if tensor.data is not None:
            return self.constant(tensor.name or self.name, self.data(index), edge_for(tensor))
        if tensor.index not in self._values:
            raise Unsupported(f"it reads {named(tensor)} before an op computes it")
        return self._values[tensor.index]

    def data(self, index: int) -> torch.Tensor:
        """Return an input, required to be a constant."""
        tensor = self.tensor(index)
        if tensor.data is None:
            raise Unsupported(f"{named(tensor)} is computed; it must be a constant")
        return torch.from_numpy(np.array(tensor.data))

    def is_constant(self, index: int) -> bool:
        return self.has(index) and self.tensor(index).data is not None

    def integers(self, index: int) -> list[int]:
        """Return a required constant of integers, flat."""
        data = self.data(index)
        if data.is_floating_point() or data.dtype is torch.bool:
            raise Unsupported(f"{named(self.tensor(index))} must hold integers")
        return [int(i) for i in data.flatten().tolist()]

    def options(self, kind: Any) -> Any:
        """Return the call's options, as a class of the schema."""
        given = self._operator.options(kind)
        if given is None:
            raise Unsupported(f"it lacks {kind.__name__}")
        return given

    def has_options(self, kind: Any) -> bool:
        return self._operator.options(kind) is not None

    def activation(self, options: Any) -> str:
        number = int(options.FusedActivationFunction())
        name = _ACTIVATIONS.get(number, f"number {number}")
        if name not in ACTIVATIONS:
            raise Unsupported(
                f"fused activation {name} is not supported; choices: {', '.join(ACTIVATIONS)}"
            )
        return name

    def axis(self, axis: int, rank: int) -> int:
        """Return a dimension; it may be counted from the end."""
        if not -rank <= axis < rank:
            raise Unsupported(f"dimension {axis} does not exist; there are {rank}")
        return axis % rank

    def constant(self, name: str, data: torch.Tensor, edge: Edge | None = None) -> Node:
        safe = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
        return self.builder.constant(f"c_{safe}", data, edge)

    def emit(self, op: Op, *args: Any, edge: Edge) -> Node:
        return self.builder.call(op, *args, edge=edge, origin=self.origin)

    def reshaped(self, x: Node, shape: Sequence[int]) -> Node:
        """Return the same values under another shape."""
        if list(shape) == list(shape_of(x)):
            return x
        layout = NHWC if len(shape) == 4 else ROW_MAJOR
        return self.emit(reshape, x, list(shape), edge=Edge(x.meta["edge"].quantization, layout))

    def same_quantization(self, *values: Node) -> None:
        """Check that input and output have one quantization: the op only moves bytes."""
        for x in values:
            if x.meta["edge"].quantization != self.edge.quantization:
                raise Unsupported(
                    f"its input and {named(self.output)} must have one quantization; they have "
                    f"{_of(x.meta['edge'].quantization)} and {_of(self.edge.quantization)}"
                )

    def persistent(self, name: str, initial: torch.Tensor, edge: Edge) -> Node:
        """Return a value kept between runs, in its state before this run."""
        graph = self.builder.graph
        inputs = [node for node in graph.nodes if node.op == "placeholder"]
        with graph.inserting_after(inputs[-1]):
            value = torch.empty(initial.shape, dtype=initial.dtype, device="meta")
            node = self.builder.placeholder(f"state_{len(inputs)}", value, edge)
        node.meta["state"] = State(name, initial)
        self._states[node] = node
        return node

    def differs(self, node: Node, kind: str) -> None:
        """Record that a result differs from TFLite's bits: one of `differing.DIFFERENCES`."""
        node.meta["not_tflite"] = kind

    def update(self, old: Node, new: Node) -> None:
        """Set the value of a persistent value for the next run."""
        self._states[old] = new

    def image(self, index: int) -> Node:
        """Return an input, required to have the dimensions [N, H, W, C]."""
        x = self.value(index)
        if x.meta["val"].dim() != 4:
            raise Unsupported(f"its input has {x.meta['val'].dim()} dimensions; 4 are needed")
        self.of(x)
        return x


def _of(quantization: Quantization | None) -> str:
    if quantization is None:
        return "none"
    return f"scale {quantization.scale:.9g}, zero point {quantization.zero_point}"
