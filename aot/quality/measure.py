# SPDX-License-Identifier: Apache-2.0
"""Runs the float model and the lowered model on samples, to measure their outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from aot.dialect.graph import initial_state
from aot.dialect.io_layout import IoLayout
from aot.dialect.reference import Reference
from aot.errors import LoweringError
from aot.quality.float_model import FloatModel
from aot.quality.outputs import Output
from aot.quality.values import Sequences
from tools.text.progress import counted

Results = Sequence[torch.Tensor]


def measure(
    outputs: Sequence[Output],
    samples: Sequences,
    float_model: FloatModel,
    floats: GraphModule,
    lowered: Reference,
    moved: IoLayout,
    keep: Callable[[Results, Results], object] | None = None,
) -> None:
    """Run both models on samples and add their results to the outputs.

    Args:
      outputs: of the models.
      samples: to run.
      float_model: the user's.
      floats: the same as a graph, for the values that integers are chosen from.
      lowered: the lowered model.
      moved: its inputs and outputs that are channels last.
      keep: takes the results of both models for each sample.
    """
    choices = _Choices(floats, outputs)
    every = counted(samples, "measuring quality: sample", len(samples))
    for index, (starts, inputs) in enumerate(every):
        if starts or index == 0:
            for model in (float_model, lowered, choices):
                model.reset()
        expected = float_model(inputs)
        actual = _in_model_layout(lowered, inputs, moved)
        chosen = choices(inputs)
        for output, e, a in zip(outputs, expected, actual, strict=True):
            output.add(e, a, chosen.get(output.choice), starts)
        if keep is not None:
            keep(expected, actual)
    lowered.reset()


class _Choices(Interpreter):
    """Runner of the float graph, for the values from which integer outputs are selected."""

    def __init__(self, floats: GraphModule, outputs: Sequence[Output]) -> None:
        super().__init__(floats)
        self._wanted = {output.choice for output in outputs} - {None}
        self._found: dict[Node | None, torch.Tensor] = {}
        self._graph = floats
        self.reset()

    def reset(self) -> None:
        """Start again from the initial state."""
        self._state = initial_state(self._graph)

    def __call__(self, inputs: Sequence[torch.Tensor]) -> Mapping[Node | None, torch.Tensor]:
        """Return the values by node. State is carried from call to call."""
        if self._wanted:
            with torch.no_grad():
                results = self.run(*(x.contiguous() for x in inputs), *self._state)
            self._state = results[len(results) - len(self._state) :] if self._state else ()
        return self._found

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if n in self._wanted:
            self._found[n] = result
        return result


def _in_model_layout(
    lowered: Reference, inputs: Sequence[torch.Tensor], moved: IoLayout
) -> Sequence[torch.Tensor]:
    """Return the lowered model's results as float, with the dimensions of the user's model."""
    try:
        results = lowered.dequantize_outputs(lowered.reference(moved.taken(inputs)))
    except IndexError as error:  # torch counts negative ones from the end
        raise LoweringError(
            f"a sample has an {error}; the device stops there. Use indices from 0 on."
        ) from error
    return moved.given(results)
