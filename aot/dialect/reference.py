# SPDX-License-Identifier: Apache-2.0
"""Runs a dialect graph as a device does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import border_nodes, edge_of, initial_state, quantization_of
from aot.dialect.quantization import WHOLE_NUMBERS
from aot.errors import describe

Array = torch.Tensor | np.ndarray[Any, Any]
Given = Array | Sequence[Array] | Mapping[str, Array]
"""A model's inputs, as people have them."""


@dataclass(frozen=True)
class Reference:
    """Reference of a lowered model.

    Attributes:
      module: the dialect graph, runnable: int8 in, int8 out (float32 with float I/O). A
        model's state comes after its inputs, and the new state after its outputs.
    """

    module: GraphModule
    _state: list[torch.Tensor] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Make the next run of the reference the first: the model's state is the initial one."""
        self._state[:] = initial_state(self.module)

    def quantize_inputs(self, inputs: Given) -> tuple[torch.Tensor, ...]:
        """Return float32 inputs quantized for the artefact. Inputs of its dtype do not change.

        Raises:
          ValueError: count, names, shape or dtype are not the model's.
        """
        return fit_inputs(inputs, border_nodes(self.module)[0])

    def reference(self, inputs: Given) -> tuple[torch.Tensor, ...]:
        """Return the results of every board, bit for bit; a model's state is carried from call to
        call.

        Args:
          inputs: float32 (quantized first) or of the artefact's dtype, with the shapes of the
            artefact's inputs. One input, a sequence of all, or a mapping by name; numpy
            arrays are allowed.
        """
        with torch.no_grad():
            result = self.module(*self.quantize_inputs(inputs), *self._state)
        results = (result,) if isinstance(result, torch.Tensor) else tuple(result)
        outputs = len(results) - len(self._state)
        self._state[:] = results[outputs:]
        return results[:outputs]

    def dequantize_outputs(
        self, outputs: torch.Tensor | Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, ...]:
        """Return the outputs as float32.

        Args:
          outputs: all of them, or the only one.

        Raises:
          ValueError: the model has another number of outputs.
        """
        _, nodes = border_nodes(self.module)
        if isinstance(outputs, torch.Tensor):
            outputs = [outputs]
        if len(outputs) != len(nodes):
            raise ValueError(f"the model has {len(nodes)} outputs; got {len(outputs)}")
        return tuple(
            x if (quantization := edge_of(n).quantization) is None else quantization.dequantize(x)
            for x, n in zip(outputs, nodes, strict=True)
        )


def fit_inputs(inputs: Given, nodes: Sequence[Node]) -> tuple[torch.Tensor, ...]:
    """Return the inputs in the placeholders' types.

    float32 is quantized, bytes become int8, matching inputs pass unchanged.
    """
    given = _in_order(inputs, [node.name for node in nodes])
    return tuple(_fit(_tensor(x), n) for x, n in zip(given, nodes, strict=True))


def _in_order(inputs: Given, names: Sequence[str]) -> Sequence[Array]:
    if isinstance(inputs, Mapping):
        if inputs.keys() != set(names):
            raise ValueError(f"the inputs are {', '.join(names)}, not {', '.join(inputs)}")
        return [inputs[name] for name in names]
    given = [inputs] if isinstance(inputs, torch.Tensor | np.ndarray) else inputs
    if len(given) != len(names):
        raise ValueError(f"the model takes {len(names)} inputs; got {len(given)}")
    return given


def _tensor(x: Array) -> torch.Tensor:
    if isinstance(x, torch.Tensor):
        return x
    if not isinstance(x, np.ndarray):
        raise ValueError(f"an input must be a tensor or a numpy array; got {describe(x)}")
    wide = x.astype(np.float32) if x.dtype == np.float64 else x
    return torch.from_numpy(np.require(wide, requirements="C"))


def _fit(x: torch.Tensor, node: Node) -> torch.Tensor:
    value = node.meta["val"]
    if x.shape == value.shape and x.dtype == value.dtype:
        return x
    if x.shape == value.shape and (x.dtype, value.dtype) == (torch.int64, torch.int32):
        if bool((x != x.to(value.dtype)).any()):
            raise ValueError(f"input {node.name} holds indices outside of int32")
        return x.to(value.dtype)
    quantization = edge_of(node).quantization
    if x.shape == value.shape and quantization and WHOLE_NUMBERS.get(x.dtype) == quantization:
        return quantization.quantize(x.to(torch.float32))
    if x.shape == value.shape and x.dtype == torch.float32:
        return quantization_of(node).quantize(x)
    shape = f", or float32{list(value.shape)} to be quantized" if quantization else ""
    raise ValueError(f"input {node.name} must be {describe(value)}{shape}; got {describe(x)}")
