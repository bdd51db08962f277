# SPDX-License-Identifier: Apache-2.0
"""Bias correction: compensates the mean error that quantization adds to each output channel.

Rounding errors of weights do not cancel if the inputs' mean is not 0, as after a ReLU. The mean
output error is measured on calibration samples, layer by layer. Each layer gets quantized inputs
and is corrected before the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.node import map_arg

from aot.dialect.graph import initial_state, returned, tensor_constant
from aot.dialect.qdq import UNCORRECTED

_aten = torch.ops.aten
_LAYERS = (_aten.convolution.default, _aten.linear.default)

Samples = Sequence[tuple[bool, Sequence[torch.Tensor]]]
"""Samples, each with a flag: a sequence starts with it."""


def correct_biases(quantized: GraphModule, floats: GraphModule, samples: Samples) -> int:
    """Correct a converted torchao graph in place.

    Args:
      quantized: the graph to correct.
      floats: the graph before quantization; nodes have the same names.
      samples: the user's inputs, contiguous.

    Returns:
      the number of corrected layers.
    """
    layers = [n for n in quantized.graph.nodes if _has_constant_weights(quantized, n)]
    with torch.no_grad():
        exact = _Means(floats, {layer.name for layer in layers})
        inputs = exact.run_on(samples)
        _walk(quantized, inputs, set(layers), exact.means)
    quantized.recompile()
    return len(layers)


def _has_constant_weights(module: GraphModule, node: Node) -> bool:
    if node.target not in _LAYERS:
        return False
    dequantized = node.args[1]
    return isinstance(dequantized, Node) and all(
        tensor_constant(module, n) is not None for n in dequantized.all_input_nodes
    )


def _channels(layer: Node) -> int:
    """Return the dimension of a layer's output channels."""
    rank: int = layer.meta["val"].dim()
    return 1 if layer.target is _aten.convolution.default else rank - 1


def _mean(layer: Node, value: torch.Tensor) -> torch.Tensor:
    """Return the mean of each output channel, float64."""
    return value.to(torch.float64).movedim(_channels(layer), 0).flatten(1).mean(1)


class _Means(Interpreter):
    """Runner of the float graph that sums the means of layers by channel over samples."""

    def __init__(self, floats: GraphModule, layers: set[str]) -> None:
        super().__init__(floats)
        self.means: dict[str, torch.Tensor] = {}
        self._layers = layers

    def run_on(self, samples: Samples) -> list[list[torch.Tensor]]:
        """Return the graph's inputs for each sample, including the state."""
        given = []
        count = len(returned(self.module)[1])  # type: ignore[arg-type]
        state: tuple[torch.Tensor, ...] = ()
        for starts, inputs in samples:
            state = initial_state(self.module) if starts else state  # type: ignore[arg-type]
            given.append([*(x.contiguous() for x in inputs), *state])
            results: Any = self.run(*given[-1])
            state = tuple(results[len(results) - count :]) if count else ()
        return given

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if n.name in self._layers:
            self.means[n.name] = self.means.get(n.name, 0.0) + _mean(n, result)
        return result


def _walk(
    module: GraphModule,
    samples: list[list[torch.Tensor]],
    layers: set[Node],
    means: dict[str, torch.Tensor],
) -> None:
    """Compute node by node, each for all samples. Correct layers on the way."""
    given = iter(zip(*samples, strict=True))
    values: dict[Node, list[Any]] = {}
    nodes = [n for n in module.graph.nodes if n.op != "output"]
    last = {source: node for node in nodes for source in node.all_input_nodes}
    for node in nodes:
        constant = tensor_constant(module, node)
        if node.op == "placeholder":
            values[node] = list(next(given))
        elif constant is not None:
            values[node] = [constant] * len(samples)
        else:
            values[node] = [_call(node, values, index) for index in range(len(samples))]
        if node in layers:
            total = sum(_mean(node, value) for value in values[node])
            missing = ((means[node.name] - total) / len(samples)).to(torch.float32)
            _add_to_bias(module, node, missing)
            shape = [-1 if d == _channels(node) else 1 for d in range(values[node][0].dim())]
            values[node] = [value + missing.reshape(shape) for value in values[node]]
        for source in node.all_input_nodes:
            if last.get(source) is node:
                del values[source]


def _call(node: Node, values: dict[Node, list[Any]], index: int) -> Any:
    args, kwargs = map_arg((node.args, node.kwargs), lambda n: values[n][index])
    assert callable(node.target)
    return node.target(*args, **kwargs)


def _add_to_bias(module: GraphModule, layer: Node, missing: torch.Tensor) -> None:
    before = tensor_constant(module, layer.args[2]) if len(layer.args) > 2 else None
    before = torch.zeros_like(missing) if before is None else before
    name = f"{layer.name}_bias_corrected"
    module.register_buffer(name, before + missing)
    with module.graph.inserting_before(layer):
        bias = module.graph.get_attr(name)
    bias.meta.update({"val": torch.empty_like(before, device="meta"), UNCORRECTED: before})
    layer.args = (*layer.args[:2], bias, *layer.args[3:])
