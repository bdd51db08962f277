# SPDX-License-Identifier: Apache-2.0
"""Steps of an imported graph: one module for each node."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from aot.importers.onnx.call import NodeCall
from aot.importers.onnx.registry import FUNCTIONS

RESERVED = ("example", "input_names", "output_names", "training")
"""Attributes of the module, which no node can have as a name."""


class OnnxNode(torch.nn.Module):
    """A node of the file; reports and `quantization` by layer have its name.

    Its constants are parameters and buffers: `weight`, `bias`, or `input_1` by position.

    Attributes:
      call: the node.
    """

    def __init__(self, call: NodeCall) -> None:
        super().__init__()
        self.call = call
        self._function = FUNCTIONS[call.operator]
        self._names: list[str | None] = []
        parameters = list(inspect.signature(self._function).parameters.values())[1:]
        arguments = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
        for index, constant in enumerate(call.constants):
            if constant is None:
                self._names.append(None)
                continue
            name = arguments[index] if index < len(arguments) else f"input_{index}"
            self._names.append(name)
            if constant.is_floating_point() and constant.dim() > 0:
                self.register_parameter(name, torch.nn.Parameter(constant))
            else:
                self.register_buffer(name, constant)

    @property
    def constants(self) -> list[torch.Tensor | None]:
        """Return the constant inputs by place; None for a computed or an omitted one."""
        return [None if name is None else getattr(self, name) for name in self._names]

    def forward(self, *computed: torch.Tensor) -> Any:
        left = iter(computed)
        inputs = []
        for index, name in enumerate(self._names):
            if name is not None:
                inputs.append(getattr(self, name))
            else:
                inputs.append(next(left) if self.call.has(index) else None)
        return self._function(self.call, *inputs)


@dataclass(frozen=True)
class NodeStep:
    """One computed node.

    Attributes:
      name: of its module.
      inputs: names of its computed inputs.
      outputs: names of its results; "" for an unused one.
    """

    name: str
    module: torch.nn.Module
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def is_quantized(steps: Sequence[NodeStep]) -> bool:
    """Return True if a step quantizes a value."""
    modules = (step.module for step in steps if isinstance(step.module, OnnxNode))
    return any(module.call.operator == "QuantizeLinear" for module in modules)
