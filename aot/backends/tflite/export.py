# SPDX-License-Identifier: Apache-2.0
"""The .tflite file of a graph while it is written; emitters add to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.backends.tflite.file import TfliteFile
from aot.dialect.graph import (
    Edge,
    arguments,
    edge_of,
    is_channels_last,
    quantization_of,
    tensor_constant,
)
from aot.dialect.quantization import Quantization
from aot.importers.tflite.arithmetic import ACTIVATIONS, activation_range, float32

_ACTIVATION_NUMBERS = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}


class Refused(Exception):
    """Reason why a node has no bit-exact form in TFLite's format; one phrase."""


class Export:
    """File of a graph under construction; emitters receive it with a node and its arguments.

    Attributes:
      file: the file under construction.
      kept: states kept by an op for itself.
    """

    def __init__(self, module: GraphModule) -> None:
        self.file = TfliteFile()
        self.kept: set[Node] = set()
        self._module = module
        self._tensors: dict[Node, int] = {}
        self._adopted: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._arguments: list[tuple[Node, dict[str, Any]]] = []

    def shape(self, node: Node) -> tuple[int, ...]:
        """Return the shape of the stored bytes: [N, H, W, C] for channels_last."""
        value = node.meta["val"]
        if is_channels_last(value):
            value = value.permute(0, 2, 3, 1)
        return tuple(value.shape)

    def tensor(self, node: Node) -> int:
        """Return the tensor of a value that has one, or of a constant."""
        if node not in self._tensors:
            data = self.constant(node)
            self._tensors[node] = self._new(node.name, data.shape, data.dtype, edge_of(node), data)
        return self._tensors[node]

    def give(self, node: Node, tensor: int | None = None) -> int:
        """Return the tensor for a node's value: a new one, or the given one."""
        if tensor is None:
            value = node.meta["val"]
            tensor = self._new(node.name, self.shape(node), value.dtype, edge_of(node))
        self._tensors[node] = tensor
        return tensor

    def like(self, name: str, shape: Sequence[int], node: Node) -> int:
        """Return a value of another shape between two ops, quantized as a node's."""
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
            raise Refused(f"the scale {of.scale!r} is not a float32 number")
        scales = () if of is None else (of.scale,)
        zero_point = 0 if of is None else of.zero_point
        array = None if data is None else data.contiguous().numpy()
        return self.file.tensor(name, shape, kind, scales, zero_point, data=array)

    def constant(self, node: Any) -> torch.Tensor:
        data = tensor_constant(self._module, node)
        if data is None:
            raise Refused(f"`{node}` is computed; TFLite needs a constant")
        return data

    def adopt(self, node: Node, values: torch.Tensor) -> None:
        """Record TFLite's own values for a constant, for `finish`."""
        self._adopted.append((self.constant(node), values))

    def adopt_arguments(self, node: Node, **values: Any) -> None:
        """Record TFLite's own numbers for arguments, for `finish`."""
        self._arguments.append((node, values))

    def finish(self) -> None:
        """Write the recorded values into the graph, in place."""
        for constant, values in self._adopted:
            constant.copy_(values)
        for node, changed in self._arguments:
            node.args, node.kwargs = tuple((arguments(node) | changed).values()), {}

    def is_constant(self, node: Any) -> bool:
        return tensor_constant(self._module, node) is not None

    def integers(self, name: str, values: Sequence[int], shape: Sequence[int] = ()) -> int:
        """Return a constant of int32, by default of one dimension."""
        array = torch.tensor(list(values), dtype=torch.int32).numpy()
        return self.file.tensor(name, shape or [len(values)], "int32", data=array)

    def one(self, node: Node, value: int) -> int:
        """Return a constant of one integer, quantized as a node's value."""
        of = quantization_of(node)
        data = torch.tensor([value], dtype=of.type.dtype).numpy()
        return self.file.tensor("value", [1], str(of.type), [of.scale], of.zero_point, data=data)

    def activation(self, node: Node, a: dict[str, Any]) -> int:
        """Return the fused activation with the same range as a node's clamp."""
        of = quantization_of(node)
        limits = a["activation_min"], a["activation_max"]
        for name in ACTIVATIONS:
            if activation_range(name, of) == limits:
                return _ACTIVATION_NUMBERS[name]
        raise Refused(f"its clamp to {list(limits)} must be one of {', '.join(ACTIVATIONS)}")

    def quantization(self, node: Node) -> Quantization:
        return quantization_of(node)
