# SPDX-License-Identifier: Apache-2.0
"""Values of the dialect graph, as float, by the values of the float graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from aot.dialect.graph import border_nodes, edge_of
from aot.dialect.reference import fit_inputs
from aot.quality.value import MeasuredValue


class Device(Interpreter):
    """Runner of the dialect graph that keeps all values as float."""

    def __init__(self, folded: GraphModule) -> None:
        super().__init__(folded)
        self._border = border_nodes(folded)[0]
        self._values: dict[str, torch.Tensor] = {}

    def of(self, value: MeasuredValue) -> torch.Tensor | None:
        """Return the dialect value for a float value; None if it has none."""
        # An int8 input has no quantize op.
        return self._values.get(value.name, self._values.get(value.value.name))

    def run_on(
        self, inputs: Sequence[torch.Tensor], state: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, ...]:
        """Run on the user's inputs; return the new state."""
        results = self.run(*fit_inputs(inputs, self._border), *state)
        return tuple(results[len(results) - len(state) :]) if state else ()

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        quantization = edge_of(n).quantization if "edge" in n.meta else None
        if quantization is not None and isinstance(result, torch.Tensor):
            # The last node that stands for a value determines it.
            self._values[n.meta["origin"].quantized or n.name] = quantization.dequantize(result)
        return result
