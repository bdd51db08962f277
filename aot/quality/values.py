# SPDX-License-Identifier: Apache-2.0
"""Effect of quantization on every value of a model: its SQNR, and its share of the outputs' noise.

One value at a time is quantized to get its own share. Its error is the contribution of its op on
inputs already quantized. It is the difference between the op in float and the op with quantized,
rounded and clipped weights. That error is added to the value in float, and all its readers are
computed again in float.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from operator import add
from typing import Any, TypeVar

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import initial_state, returned
from aot.dialect.qdq import DEQUANTIZE, QUANTIZE, activation_quantization
from aot.dialect.quantization import INT16, Quantization
from aot.quality.change import NO_CHANGE, Change
from aot.quality.decibels import decibels
from aot.quality.device import Device
from aot.quality.nodes import behind, call, constants_of, root_of, source_of
from aot.quality.sampling import some_of
from aot.quality.single_errors import Environment, SingleErrors, energy
from aot.quality.value import MeasuredValue
from aot.rules.function import evaluate, function_roots
from aot.upstream.torch import tree_leaves
from kernels.lut.op import lut, table_of

SAMPLES = 4
"""Upper limit for the samples used to measure values on the device."""

RANGED = 16
"""Least number of samples used for ranges in float."""

_RANGED_MOST = 64
_RANGED_ELEMENTS = 1 << 23
"""Upper limits for that number: samples, and elements of values over all samples."""

_STEPS = 400_000
"""Upper limit for ops computed again, over all values and samples. A large graph is measured on
fewer samples. If it is too large for one sample, no value's own share is measured.
"""

_Flagged = TypeVar("_Flagged", bound=tuple[bool, Any])

Sequences = Sequence[tuple[bool, Sequence[torch.Tensor]]]
"""Samples, each with a flag: a sequence starts with it."""


class Values:
    """Measurements of a model's quantized values.

    Args:
      quantized: torchao's converted graph.
      floats: the graph before quantization; nodes have the same names.
      folded: the dialect graph after conversion.
      most: upper limit for the samples used to measure values on the device.
    """

    def __init__(
        self,
        quantized: GraphModule,
        floats: GraphModule,
        folded: GraphModule,
        most: int = SAMPLES,
    ) -> None:
        self._most = most
        self._graph = quantized
        self._folded = folded
        self._nodes: list[Node] = [n for n in quantized.graph.nodes if n.op != "output"]
        self._constants = constants_of(quantized, floats)
        self._quantizers = [
            n for n in self._nodes if n.target is QUANTIZE and n not in self._constants
        ]
        leaves = tree_leaves(quantized.graph.output_node().args)
        self._outputs = [n for n in leaves if isinstance(n, Node)]
        self._behind = behind(self._nodes)
        self._roots = function_roots(quantized.graph)
        self._alone = SingleErrors(self._nodes, self._outputs)

    def read_by(self, name: str) -> frozenset[str]:
        """Return the values that are computed from one value, by their names in the float graph.

        `name` is the node that quantizes it.
        """
        (node,) = (n for n in self._quantizers if n.name == name)
        return self._behind[node]

    def measure(self, samples: Sequences, alone: bool = True) -> list[MeasuredValue]:
        """Run the model on some of the samples.

        Args:
          samples: the user's inputs, contiguous.
          alone: also quantize one value at a time.
        """
        count = self._count(len(self._quantizers)) if alone else self._most
        alone = alone and count > 0
        count = count or self._most
        values = [
            MeasuredValue(n.name, root_of(n), activation_quantization(n)) for n in self._quantizers
        ]
        signals = [0.0] * len(self._outputs)
        noises = [[0.0] * len(self._outputs) for _ in values]
        states = returned(self._graph)[1]
        state, integers = initial_state(self._graph), initial_state(self._folded)
        ranged = self._spread(samples, max(self.ranged, count))
        indices = [(starts, index) for index, (starts, _) in enumerate(ranged)]
        on_device = {index for _, index in self._spread(indices, count)}
        for index, (starts, inputs) in enumerate(ranged):
            if starts:
                state, integers = initial_state(self._graph), initial_state(self._folded)
            exact = self._in_float([*inputs, *state])
            device = Device(self._folded)
            if index in on_device:
                integers = device.run_on(inputs, integers)
            for value, node in zip(values, self._quantizers, strict=True):
                value.add(exact[node], device.of(value))
            if alone and index in on_device:
                for i, output in enumerate(self._outputs):
                    signals[i] += energy(exact[output], None)
                errors = zip(self._quantizers, self._errors(exact), strict=True)
                for noise, found in zip(noises, self._alone.noises(exact, errors), strict=True):
                    noise[:] = map(add, noise, found)
            state = tuple(exact[n] for n in states)
        if alone:
            for value, noise in zip(values, noises, strict=True):
                ratios = [n / s for n, s in zip(noise, signals, strict=True) if s > 0.0]
                value.noise_to_signal = sum(ratios) / len(ratios) if ratios else None
        return values

    @property
    def ranged(self) -> int:
        """Number of samples used for ranges in float: more of a small model."""
        elements: int = sum(n.meta["val"].numel() for n in map(root_of, self._quantizers))
        return max(RANGED, min(_RANGED_MOST, _RANGED_ELEMENTS // max(1, elements)))

    def _spread(self, samples: Sequence[_Flagged], most: int) -> Sequence[_Flagged]:
        return some_of(samples, most, bool(initial_state(self._graph)))

    def _count(self, values: int) -> int:
        """Return the number of samples for this many values, quantized one at a time."""
        return min(self._most, _STEPS // max(1, values * len(self._nodes) // 2))

    def runs(
        self, samples: Sequences, change: Change = NO_CHANGE
    ) -> Iterator[list[tuple[torch.Tensor, torch.Tensor]]]:
        """Yield the model's outputs for some of the samples: in float, and with all values
        quantized.

        Args:
          samples: the user's inputs, contiguous.
          change: differences from the graph.
        """
        states = returned(self._graph)[1]
        state = rough_state = initial_state(self._graph)
        for starts, inputs in self._spread(samples, self._most):
            if starts:
                state = rough_state = initial_state(self._graph)
            exact = self._in_float([*inputs, *state])
            rough = self._quantized([*inputs, *rough_state], change)
            yield [(exact[output], rough[output]) for output in self._outputs]
            state, rough_state = (tuple(values[n] for n in states) for values in (exact, rough))

    def sqnr_db(self, samples: Sequences, change: Change = NO_CHANGE) -> float | None:
        """Return the SQNR of the model's outputs, the mean over them, with all values quantized."""
        signals, noises = [0.0] * len(self._outputs), [0.0] * len(self._outputs)
        for outputs in self.runs(samples, change):
            for i, (exact, rough) in enumerate(outputs):
                signals[i] += energy(exact, None)
                noises[i] += energy(exact, rough)
        ratio = _mean_ratio(noises, signals)
        return None if ratio is None else decibels(1.0, ratio)

    def noise_to_signal(
        self, samples: Sequences, names: Collection[str], change: Change
    ) -> float | None:
        """Return the total noise in the outputs caused by quantizing only the named values.

        Args:
          samples: the user's inputs, contiguous.
          names: of the nodes that quantize them.
          change: differences from the graph.
        """
        signals, noises = [0.0] * len(self._outputs), [0.0] * len(self._outputs)
        states = returned(self._graph)[1]
        state = initial_state(self._graph)
        for starts, inputs in self._spread(samples, max(1, self._count(len(names)))):
            state = initial_state(self._graph) if starts else state
            exact = self._in_float([*inputs, *state])
            for i, output in enumerate(self._outputs):
                signals[i] += energy(exact[output], None)
            errors = zip(self._quantizers, self._errors(exact, change), strict=True)
            named = ((node, error) for node, error in errors if node.name in names)
            for found in self._alone.noises(exact, named):
                noises = list(map(add, noises, found))
            state = tuple(exact[n] for n in states)
        return _mean_ratio(noises, signals)

    def _quantized(self, inputs: Sequence[torch.Tensor], change: Change) -> Environment:
        """Return the value of every node. A value that leaves int8 keeps its op's result."""
        given = iter(inputs)
        rough: Environment = {}
        narrow: Environment = {}  # values for the readers that are still int8

        def as_read(node: Node) -> Any:
            return narrow[node] if node in narrow else rough[node]

        for node in self._nodes:
            if node.op == "placeholder":
                rough[node] = next(given)
            elif node in self._constants:
                rough[node] = self._constant(node, change)
            elif node.target is DEQUANTIZE:
                rough[node] = rough[source_of(node)]
                if source_of(node) in narrow:
                    narrow[node] = narrow[source_of(node)]
            elif node.target is QUANTIZE:
                source, name = source_of(node), root_of(node).name
                quantization = activation_quantization(node)
                quantization = change.other.get(quantization, quantization)
                by_table = self._by_table(node, rough, change)
                read = as_read(source) if by_table is None else by_table
                rounded = _rounded(read, quantization)
                rough[node] = rounded
                if name in change.changed:
                    narrow[node] = rounded
                    result = rough[source] if by_table is None else by_table
                    rough[node] = _as_changed(result, name, quantization, change)
            else:
                is_changed = self._behind[node] <= change.changed
                rough[node] = call(node, rough.__getitem__ if is_changed else as_read)
        return rough

    def _by_table(self, node: Node, values: Environment, change: Change) -> torch.Tensor | None:
        """Return the int16 result of a pointwise function on an int16 value, by its table.

        The table is interpolated linearly between its entries. None for other ops.
        """
        source = source_of(node)
        root = self._roots.get(source)
        if root is None or root.target is not DEQUANTIZE:
            return None
        of, result = _held(source_of(root), change), _held(node, change)
        if of is None or result is None or not of.type is result.type is INT16:
            return None
        table = table_of(partial(evaluate, self._graph, source), of, result)
        return result.dequantize(lut.reference(of.quantize(values[source_of(root)]), table))

    def _constant(self, node: Node, change: Change) -> torch.Tensor:
        original, stored = self._constants[node]
        weights = change.weights
        rounding = next((weights[n.name] for n in node.users if n.name in weights), None)
        if rounding is not None and node.target is not DEQUANTIZE and node.op != "get_attr":
            return rounding(original)
        return original if self._behind[node] & change.floats else stored

    def _in_float(self, inputs: Sequence[torch.Tensor]) -> Environment:
        """Return the value of every node without quantization."""
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

    def _errors(self, exact: Environment, change: Change = NO_CHANGE) -> Iterator[torch.Tensor]:
        """Yield for each quantize node its error, given quantized inputs.

        The ops before it and their weights are included.
        """
        plain: Environment = {}  # from quantized inputs, with weights in float
        rough: Environment = {}  # and with weights quantized
        for node in self._nodes:
            if node in self._constants:
                plain[node], rough[node] = self._constants[node][0], self._constant(node, change)
            elif node.op == "placeholder":
                plain[node] = rough[node] = exact[node]
            elif node.target is DEQUANTIZE:
                plain[node] = rough[node] = plain[source_of(node)]
            elif node.target is QUANTIZE:
                quantization, source = activation_quantization(node), source_of(node)
                plain[node] = _rounded(exact[node], quantization)
                name, result = root_of(node).name, rough[source]
                if name in change.changed:
                    result = _as_changed(result, name, quantization, change)
                    by_table = self._by_table(node, exact, change)
                    if by_table is not None:
                        result = result + (by_table - exact[source])
                if name not in change.changed or self._is_read_as_before(node, change):
                    result = _rounded(result, quantization)
                # If an op is undefined, perhaps on a value rounded to 0, there is no error.
                yield (result - plain[source]).nan_to_num(0.0, 0.0, 0.0)
            else:
                plain[node] = rough[node] = call(node, plain.__getitem__)
                if any(plain[n] is not rough[n] for n in node.all_input_nodes):
                    rough[node] = call(node, rough.__getitem__)

    def _is_read_as_before(self, node: Node, change: Change) -> bool:
        """Return True if an int8 op reads the result of a quantize or dequantize node."""
        return any(
            self._is_read_as_before(reader, change)
            if reader.target in (QUANTIZE, DEQUANTIZE)
            else reader.op != "output" and not self._behind[reader] <= change.changed
            for reader in node.users
        )

    def _unquantized(self, node: Node, values: Mapping[Node, Any]) -> Any:
        """Return a node's result, computed without quantized activations."""
        if node.target in (QUANTIZE, DEQUANTIZE):
            return values[source_of(node)]
        return call(node, values.__getitem__)


def _held(node: Node, change: Change) -> Quantization | None:
    """Return the quantization of a quantize node's value; None if it stays float."""
    name, quantization = root_of(node).name, activation_quantization(node)
    if name in change.wide:
        return change.widened(name, quantization)
    is_plain = name in change.floats | change.unrounded
    return None if is_plain else change.other.get(quantization, quantization)


def _as_changed(
    values: torch.Tensor, name: str, quantization: Quantization, change: Change
) -> torch.Tensor:
    """Return a value that is no longer int8, in its new type."""
    if name in change.floats | change.unrounded:
        return values
    return _rounded(values, change.widened(name, quantization))


def _mean_ratio(noises: Sequence[float], signals: Sequence[float]) -> float | None:
    ratios = [n / s for n, s in zip(noises, signals, strict=True) if s > 0.0]
    return sum(ratios) / len(ratios) if ratios else None


def _rounded(values: torch.Tensor, quantization: Quantization) -> torch.Tensor:
    return quantization.dequantize(quantization.quantize(values))
