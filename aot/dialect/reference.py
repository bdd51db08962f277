# SPDX-License-Identifier: Apache-2.0
"""Runs a dialect graph as a device does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import border_nodes, edge_of, initial_state, quantization_of
from aot.dialect.quantization import WHOLE_NUMBERS
from aot.errors import describe


@dataclass(frozen=True)
class Reference:
    """What a lowered model computes.

    Attributes:
      module: the dialect graph, runnable: int8 in, int8 out (float32 with float I/O); that of a
        model with state takes it behind its inputs and gives it behind its outputs.
    """

    module: GraphModule
    _state: list[torch.Tensor] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Makes the next run of the reference the first: the model's state is the initial one."""
        self._state[:] = initial_state(self.module)

    def quantize_inputs(self, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Float32 inputs as the artefact takes them; inputs of its dtype already pass through.

        Raises:
          ValueError: count, shape or dtype are not the model's.
        """
        return fit_inputs(inputs, border_nodes(self.module)[0])

    def reference(self, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """What every board computes, bit for bit; a model's state is carried from call to call.

        Args:
          inputs: float32 (quantized first) or of the artefact's dtype; shapes as the artefact's
            inputs.
        """
        with torch.no_grad():
            result = self.module(*self.quantize_inputs(inputs), *self._state)
        results = (result,) if isinstance(result, torch.Tensor) else tuple(result)
        outputs = len(results) - len(self._state)
        self._state[:] = results[outputs:]
        return results[:outputs]

    def dequantize_outputs(self, outputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Outputs as float32."""
        _, nodes = border_nodes(self.module)
        return tuple(
            x if (quantization := edge_of(n).quantization) is None else quantization.dequantize(x)
            for x, n in zip(outputs, nodes, strict=True)
        )


def fit_inputs(inputs: Sequence[torch.Tensor], nodes: Sequence[Node]) -> tuple[torch.Tensor, ...]:
    """Inputs as placeholders take them: float32 is quantized, bytes are int8, what fits passes."""
    if len(inputs) != len(nodes):
        raise ValueError(f"the model takes {len(nodes)} inputs, not {len(inputs)}")
    return tuple(_fit(x, n) for x, n in zip(inputs, nodes, strict=True))


def _fit(x: torch.Tensor, node: Node) -> torch.Tensor:
    value = node.meta["val"]
    if x.shape == value.shape and x.dtype == value.dtype:
        return x
    if x.shape == value.shape and (x.dtype, value.dtype) == (torch.int64, torch.int32):
        if bool((x != x.to(value.dtype)).any()):
            raise ValueError(f"input {node.name} holds indices that are no int32")
        return x.to(value.dtype)
    quantization = edge_of(node).quantization
    if x.shape == value.shape and quantization and WHOLE_NUMBERS.get(x.dtype) == quantization:
        return quantization.quantize(x.to(torch.float32))
    if x.shape == value.shape and x.dtype == torch.float32:
        return quantization_of(node).quantize(x)
    raise ValueError(f"input {node.name} is {describe(x)}, the model takes {describe(value)}")
