# SPDX-License-Identifier: Apache-2.0
"""Steps of an imported graph: one module for each node, and layers joined from several nodes."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from aot.importers.onnx.call import Call
from aot.importers.onnx.ops.layers import Linear
from aot.importers.onnx.registry import FUNCTIONS


class OnnxNode(torch.nn.Module):
    """A node of the file; reports and `quantization` by layer have its name.

    Its constants are parameters and buffers: `weight`, `bias`, or `input_1` by position.
    """

    def __init__(self, call: Call) -> None:
        super().__init__()
        self._call = call
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
    def operator(self) -> str:
        return self._call.operator

    def constant(self) -> torch.Tensor | None:
        """Return the only constant of a node with one computed input besides, else None."""
        given = [name for name in self._names if name is not None]
        if len(given) != 1 or len(self._names) != 2:
            return None
        found: torch.Tensor = getattr(self, given[0])
        return found

    def forward(self, *computed: torch.Tensor) -> Any:
        left = iter(computed)
        inputs = []
        for index, name in enumerate(self._names):
            if name is not None:
                inputs.append(getattr(self, name))
            else:
                inputs.append(next(left) if self._call.has(index) else None)
        return self._function(self._call, *inputs)


@dataclass(frozen=True)
class Step:
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


def is_quantized(steps: Sequence[Step]) -> bool:
    """Return True if a step quantizes a value."""
    modules = (step.module for step in steps if isinstance(step.module, OnnxNode))
    return any(module.operator == "QuantizeLinear" for module in modules)


def join_biases(steps: Sequence[Step], outputs: Sequence[str]) -> list[Step]:
    """Return the steps with each product and the Add of a constant behind it as one layer.

    Exporters write a linear layer over more than two dimensions as MatMul and Add.
    """
    uses = Counter([*outputs, *(name for step in steps for name in step.inputs)])
    makers = {step.outputs[0]: index for index, step in enumerate(steps)}
    joined: list[Step | None] = [*steps]
    for index, step in enumerate(steps):
        if not isinstance(step.module, OnnxNode) or step.module.operator != "Add":
            continue
        bias = step.module.constant()
        made = makers.get(step.inputs[0])
        product = None if made is None else joined[made]
        if bias is None or made is None or product is None or uses[step.inputs[0]] != 1:
            continue
        layer = product.module
        if not isinstance(layer, Linear) or layer.bias is not None:
            continue
        if bias.dim() == 1 and len(bias) == len(layer.weight):
            layer.bias = torch.nn.Parameter(bias.detach())
            joined[made] = None
            joined[index] = replace(product, outputs=step.outputs)
    return [step for step in joined if step is not None]
