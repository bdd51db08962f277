# SPDX-License-Identifier: Apache-2.0
"""What quantization does to every value of a model: how far it is from float, and how much of the
outputs' noise is its own.

For its own share one value at a time is quantized. Its error is what its op adds to inputs that are
quantized already: from the op in float to the op with its weights quantized, rounded and clipped.
That error is added to the value in float, and all that reads it is computed again in float.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves

from aot.dialect.graph import (
    border_nodes,
    edge_of,
    initial_state,
    returned,
    tensor_constant,
)
from aot.dialect.quantization import Quantization
from aot.dialect.reference import fit_inputs
from aot.errors import module_path, source_line
from aot.quality.decibels import decibels, power
from aot.quantizer.qdq import DEQUANTIZE, QUANTIZE, UNCORRECTED, activation_quantization

BINS = 32
"""Of a value's histogram, over what its quantization holds."""

SAMPLES = 4
"""On how many samples values are measured, at most."""

_STEPS = 400_000
"""How many ops are computed again, over all values and samples, at most: of a large graph fewer
samples are measured, and of one too large for a single sample no value's own share."""

Rounding = Callable[[torch.Tensor], torch.Tensor]
"""Float weights to those that a device has."""

Sequences = Sequence[tuple[bool, Sequence[torch.Tensor]]]
"""Samples, each with whether a sequence starts with it."""


@dataclass
class Value:
    """A quantized value; sums are over all samples and elements.

    Attributes:
      name: of the node that quantizes it in torchao's graph, as Origin.quantized has it.
      value: what is quantized, a node of the float graph.
      quantization: its own.
      signal: of its squares in float.
      noise: of the squares of what the device's are off.
      low, high: of its elements in float.
      clipped: how many elements are more than a step outside of its limits.
      noise_to_signal: of the model's outputs with this value alone quantized, the mean over them;
        None if it was not measured.
      histogram: elements in float that are clipped below, that are in each of BINS equal parts
        between its limits, and that are clipped above.
    """

    name: str
    value: Node
    quantization: Quantization
    signal: float = 0.0
    noise: float = 0.0
    low: float = float("inf")
    high: float = float("-inf")
    clipped: int = 0
    elements: int = 0
    noise_to_signal: float | None = None
    histogram: list[int] = field(default_factory=lambda: [0] * (BINS + 2))

    @property
    def is_input(self) -> bool:
        return bool(self.value.op == "placeholder")

    @property
    def module(self) -> str:
        return module_path(self.value)

    @property
    def source(self) -> str:
        return source_line(self.value)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest real number that it can hold."""
        q = self.quantization
        lowest, highest = (end - q.zero_point for end in (q.type.quant_min, q.type.quant_max))
        return q.scale * lowest, q.scale * highest

    @property
    def sqnr_db(self) -> float | None:
        """Of the value on the device, with all that happened before it."""
        return decibels(self.signal, self.noise)

    @property
    def alone_db(self) -> float | None:
        """SQNR of the model's outputs with this value alone quantized."""
        return None if self.noise_to_signal is None else decibels(1.0, self.noise_to_signal)

    @property
    def clipped_share(self) -> float:
        return self.clipped / max(self.elements, 1)

    def add(self, expected: torch.Tensor, actual: torch.Tensor | None) -> None:
        """Adds a sample: the value in float, and on the device if it is known."""
        (low, high), step = self.limits, self.quantization.scale
        self.low = min(self.low, expected.min().item())
        self.high = max(self.high, expected.max().item())
        below, above = expected < low - step, expected > high + step
        self.clipped += int((below | above).sum())
        self.elements += expected.numel()
        part = ((expected.double() - low) / (high - low) * BINS).nan_to_num().clamp(0, BINS - 1)
        part = part.floor().long().masked_fill(below, -1).masked_fill(above, BINS)
        counts = (part + 1).flatten().bincount(minlength=BINS + 2).tolist()
        self.histogram = [a + b for a, b in zip(self.histogram, counts, strict=True)]
        if actual is not None:
            self.signal += power(expected)
            self.noise += power(actual - expected)


Environment = dict[Node, Any]
"""What each node of a graph gives."""


class Values:
    """The quantized values of a model.

    Args:
      quantized: torchao's converted graph.
      floats: the graph that it was made from; nodes have the same names.
      folded: the dialect graph that was made from it.
    """

    def __init__(self, quantized: GraphModule, floats: GraphModule, folded: GraphModule) -> None:
        self._graph = quantized
        self._folded = folded
        self._nodes: list[Node] = [n for n in quantized.graph.nodes if n.op != "output"]
        self._constants = _constants(quantized, floats)
        self._quantizers = [
            n for n in self._nodes if n.target is QUANTIZE and n not in self._constants
        ]
        leaves = tree_leaves(quantized.graph.output_node().args)
        self._outputs = [n for n in leaves if isinstance(n, Node)]

    def measure(self, samples: Sequences, alone: bool = True) -> list[Value]:
        """Runs the model on the first of the samples.

        Args:
          samples: the user's inputs, contiguous.
          alone: whether to quantize one value at a time, too.
        """
        steps = max(1, len(self._quantizers) * len(self._nodes) // 2)
        alone = alone and steps <= _STEPS
        count = min(SAMPLES, _STEPS // steps) if alone else SAMPLES
        values = [Value(n.name, _root(n), activation_quantization(n)) for n in self._quantizers]
        signals = [0.0] * len(self._outputs)
        noises = [[0.0] * len(self._outputs) for _ in values]
        states = returned(self._graph)[1]
        state, integers = initial_state(self._graph), initial_state(self._folded)
        for starts, inputs in samples[:count]:
            if starts:
                state, integers = initial_state(self._graph), initial_state(self._folded)
            exact = self._in_float([*inputs, *state])
            device = _Device(self._folded)
            integers = device.run_on(inputs, integers)
            for value, node in zip(values, self._quantizers, strict=True):
                value.add(exact[node], device.of(value))
            if alone:
                for i, output in enumerate(self._outputs):
                    signals[i] += _energy(exact[output], None)
                for noise, changed in zip(noises, self._one_by_one(exact), strict=True):
                    for i, output in enumerate(self._outputs):
                        if output in changed:
                            noise[i] += _energy(exact[output], changed[output])
            state = tuple(exact[n] for n in states)
        if alone:
            for value, noise in zip(values, noises, strict=True):
                ratios = [n / s for n, s in zip(noise, signals, strict=True) if s > 0.0]
                value.noise_to_signal = sum(ratios) / len(ratios) if ratios else None
        return values

    def sqnr_db(
        self,
        samples: Sequences,
        kept: Collection[str] = (),
        other: Mapping[Quantization, Quantization] | None = None,
        weights: Mapping[str, Rounding] | None = None,
    ) -> float | None:
        """SQNR of the model's outputs, the mean over them, with all values quantized.

        Args:
          samples: the user's inputs, contiguous.
          kept: names of values to leave in float, with the weights of their ops.
          other: quantizations that take the place of some.
          weights: how to round the weights of some layers, by name.
        """
        signals, noises = [0.0] * len(self._outputs), [0.0] * len(self._outputs)
        states = returned(self._graph)[1]
        state = rough_state = initial_state(self._graph)
        for starts, inputs in samples[:SAMPLES]:
            if starts:
                state = rough_state = initial_state(self._graph)
            exact = self._in_float([*inputs, *state])
            rough = self._quantized([*inputs, *rough_state], kept, other or {}, weights or {})
            for i, output in enumerate(self._outputs):
                signals[i] += _energy(exact[output], None)
                noises[i] += _energy(exact[output], rough[output])
            state, rough_state = (tuple(values[n] for n in states) for values in (exact, rough))
        ratios = [n / s for n, s in zip(noises, signals, strict=True) if s > 0.0]
        return decibels(1.0, sum(ratios) / len(ratios)) if ratios else None

    def _quantized(
        self,
        inputs: Sequence[torch.Tensor],
        kept: Collection[str],
        other: Mapping[Quantization, Quantization],
        weights: Mapping[str, Rounding],
    ) -> Environment:
        """Every node's value, with the quantization that `sqnr_db` describes."""
        given = iter(inputs)
        rough: Environment = {}
        for node in self._nodes:
            if node.op == "placeholder":
                rough[node] = next(given)
            elif node in self._constants:
                original, stored = self._constants[node]
                rounding = next((weights[n.name] for n in node.users if n.name in weights), None)
                if rounding is not None and node.target is not DEQUANTIZE and node.op != "get_attr":
                    rough[node] = rounding(original)
                else:
                    rough[node] = original if _quantizers_of(node) & set(kept) else stored
            elif node.target is QUANTIZE and node.name not in kept:
                quantization = activation_quantization(node)
                quantization = other.get(quantization, quantization)
                rough[node] = _rounded(rough[_source(node)], quantization)
            else:
                rough[node] = self._unquantized(node, rough)
        return rough

    def _in_float(self, inputs: Sequence[torch.Tensor]) -> Environment:
        """Every node's value without any quantization."""
        given = iter(inputs)
        exact: Environment = {}
        for node in self._nodes:
            if node.op == "placeholder":
                exact[node] = next(given)
            elif node in self._constants:
                exact[node], _ = self._constants[node]
            else:
                exact[node] = self._unquantized(node, exact)
        return exact

    def _errors(self, exact: Environment) -> Iterator[torch.Tensor]:
        """What each quantize node, with the ops in front of it and their weights, adds to inputs
        that are quantized.
        """
        plain: Environment = {}  # from quantized inputs, with weights in float
        rough: Environment = {}  # and with weights quantized
        for node in self._nodes:
            if node in self._constants:
                plain[node], rough[node] = self._constants[node]
            elif node.op == "placeholder":
                plain[node] = rough[node] = exact[node]
            elif node.target is DEQUANTIZE:
                plain[node] = rough[node] = plain[_source(node)]
            elif node.target is QUANTIZE:
                quantization, source = activation_quantization(node), _source(node)
                plain[node] = _rounded(exact[node], quantization)
                # Where an op is not defined, on a value rounded to 0 perhaps, there is no error.
                error = _rounded(rough[source], quantization) - plain[source]
                yield error.nan_to_num(0.0, 0.0, 0.0)
            else:
                plain[node] = rough[node] = _call(node, plain.__getitem__)
                if any(plain[n] is not rough[n] for n in node.all_input_nodes):
                    rough[node] = _call(node, rough.__getitem__)

    def _one_by_one(self, exact: Environment) -> Iterator[Environment]:
        """What changes with each quantize node's error alone."""
        for node, error in zip(self._quantizers, self._errors(exact), strict=True):
            changed = {node: exact[node] + error} if bool(error.any()) else {}
            reached = iter(self._nodes if changed else ())
            for reader in reached:
                if reader is node:
                    break
            for reader in reached:
                if any(n in changed for n in reader.all_input_nodes):
                    changed[reader] = self._unquantized(reader, ChainMap(changed, exact))
            yield changed

    def _unquantized(self, node: Node, values: Mapping[Node, Any]) -> Any:
        """What a node gives where activations are not quantized."""
        if node.target in (QUANTIZE, DEQUANTIZE):
            return values[_source(node)]
        return _call(node, values.__getitem__)


def _call(node: Node, lookup: Callable[[Node], Any]) -> Any:
    """Calls a node's op."""
    args, kwargs = map_arg((node.args, node.kwargs), lookup)
    assert callable(node.target)
    return node.target(*args, **kwargs)


def _quantizers_of(node: Node) -> set[str]:
    """The quantize nodes that come next behind a node."""
    found, waiting = set(), list(node.users)
    while waiting:
        reader = waiting.pop()
        if reader.target is QUANTIZE:
            found.add(reader.name)
        else:
            waiting += reader.users
    return found


def _energy(expected: torch.Tensor, actual: torch.Tensor | None) -> float:
    """Of a signal, or of what another one is off: squares of floats, a count of integers."""
    if not expected.is_floating_point():
        return float(expected.numel() if actual is None else int((actual != expected).sum()))
    return power(expected if actual is None else actual - expected)


def _rounded(values: torch.Tensor, quantization: Quantization) -> torch.Tensor:
    return quantization.dequantize(quantization.quantize(values))


def _root(quantizer: Node) -> Node:
    """The value in float that a quantize node, or those in front of it, quantize."""
    node = quantizer
    while node.target in (QUANTIZE, DEQUANTIZE):
        node = _source(node)
    return node


def _source(node: Node) -> Node:
    """What a quantize or dequantize node takes."""
    source = node.args[0]
    assert isinstance(source, Node)
    return source


def _constants(
    quantized: GraphModule, floats: GraphModule
) -> dict[Node, tuple[torch.Tensor, torch.Tensor]]:
    """The constants of a quantized graph, in float and as they are: weights where they are
    dequantized.
    """
    originals = {n.name: n for n in floats.graph.nodes}
    found: dict[Node, tuple[torch.Tensor, torch.Tensor]] = {}
    for node in quantized.graph.nodes:
        constant = tensor_constant(quantized, node)
        if constant is not None:
            found[node] = node.meta.get(UNCORRECTED, constant), constant
        elif node.all_input_nodes and all(n in found for n in node.all_input_nodes):
            stored = _call(node, lambda n: found[n][1])
            original = _original(node, originals, floats)
            found[node] = stored if original is None else original, stored
    return found


def _original(node: Node, originals: dict[str, Node], floats: GraphModule) -> torch.Tensor | None:
    """The float constant that a dequantize node stands for: the same argument of its reader."""
    for reader in node.users:
        if reader.name in originals:
            arguments = tree_leaves(originals[reader.name].args)
            for mine, other in zip(tree_leaves(reader.args), arguments, strict=False):
                if mine is node:
                    return tensor_constant(floats, other)
    return None


class _Device(Interpreter):
    """Runs the dialect graph and keeps its values, in float."""

    def __init__(self, folded: GraphModule) -> None:
        super().__init__(folded)
        self._border = border_nodes(folded)[0]
        self._values: dict[str, torch.Tensor] = {}

    def of(self, value: Value) -> torch.Tensor | None:
        """What a value is here; None where nothing stands for it."""
        # An input that is int8 itself has no op.
        return self._values.get(value.name, self._values.get(value.value.name))

    def run_on(
        self, inputs: Sequence[torch.Tensor], state: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, ...]:
        """Runs the user's inputs; returns the new state."""
        results = self.run(*fit_inputs(inputs, self._border), *state)
        return tuple(results[len(results) - len(state) :]) if state else ()

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        quantization = edge_of(n).quantization if "edge" in n.meta else None
        if quantization is not None and isinstance(result, torch.Tensor):
            # The last node that stands for a value has it.
            self._values[n.meta["origin"].quantized or n.name] = quantization.dequantize(result)
        return result
