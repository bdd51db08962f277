# SPDX-License-Identifier: Apache-2.0
"""How far a lowered model's outputs are from the float model's."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves

from aot.dialect.graph import arguments, returned
from aot.dialect.reference import Reference
from aot.passes.rewrite.border import TO_NHWC_BORDER
from aot.quality.decibels import decibels, power
from aot.quality.float_model import FloatModel
from aot.quality.values import Sequences
from aot.rules.spatial import TO_NCHW, TO_NHWC

_CLEAR = 0.5
"""The float model is sure of a class that leads the next by this many standard deviations of what
it gives for classes."""

_SOFTMAX = (torch.ops.aten.softmax.int, torch.ops.aten.log_softmax.int)


@dataclass
class Output:
    """One output over all samples, and the classes that it chooses.

    Attributes:
      name: of its node.
      class_dim: the dimension that classes are in; None if it chooses none, or is of integers.
      is_class: a sample of it is one class, or one integer.
      signal: the sum of the squares of the float model's.
      actual: of the lowered model's.
      noise: of the difference.
      product: the sum of the products of the two.
      classes: what the float model chooses and what the lowered one does, all integers of an
        integer output, sample by sample.
    """

    name: str
    class_dim: int | None
    is_class: bool
    signal: float = 0.0
    actual: float = 0.0
    noise: float = 0.0
    product: float = 0.0
    classes: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)
    _leads: list[torch.Tensor] = field(default_factory=list)
    _variances: list[float] = field(default_factory=list)

    @property
    def sqnr_db(self) -> float | None:
        """None of integers, and where the float model gives nothing but zeros."""
        return decibels(self.signal, self.noise)

    @property
    def cosine(self) -> float | None:
        """Of the angle between float and int8; None where one of them is nothing but zeros."""
        length = math.sqrt(self.signal * self.actual)
        return self.product / length if length > 0.0 else None

    @property
    def agreement(self) -> float | None:
        """Share of the classes that are the float model's; None if the output is no choice."""
        same = self._same()
        return None if same is None else same.double().mean().item()

    @property
    def clear_agreement(self) -> tuple[int, int] | None:
        """Of the classes that the float model is sure of, how many there are and how many the
        lowered model chooses, too. Integers do not say how sure it is: it is sure of all.
        """
        same = self._same()
        if same is None or not self._leads:
            return None if same is None else (same.numel(), int(same.sum()))
        # The median: one sample like no other says nothing of the rest.
        deviation = math.sqrt(statistics.median(self._variances))
        sure = torch.cat(self._leads) > _CLEAR * deviation
        return int(sure.sum()), int((sure & same).sum())

    def accuracy(self, labels: torch.Tensor) -> tuple[float, float]:
        """Share of samples whose class is the label: of the float model, and of the lowered one."""
        chosen = (torch.cat(column) for column in zip(*self.classes, strict=True))
        float32, int8 = ((column == labels).double().mean().item() for column in chosen)
        return float32, int8

    def add(self, expected: torch.Tensor, actual: torch.Tensor) -> None:
        """Adds a sample: what the float model gives, and what the lowered one does."""
        if not expected.is_floating_point():
            self.classes.append((expected.flatten(), actual.flatten()))
            return
        self.signal += power(expected)
        self.actual += power(actual)
        self.noise += power(actual.double() - expected.double())
        self.product += (actual.double() * expected.double()).sum().item()
        if self.class_dim is not None:
            expected, actual = (x.movedim(self.class_dim, -1) for x in (expected, actual))
            first, second = expected.topk(2, -1).values.unbind(-1)
            self.classes.append((expected.argmax(-1).flatten(), actual.argmax(-1).flatten()))
            self._leads.append((first - second).flatten())
            self._variances.append(expected.var(-1, correction=0).mean().item())

    def _same(self) -> torch.Tensor | None:
        return torch.cat([a == b for a, b in self.classes]) if self.classes else None


def outputs_of(floats: GraphModule) -> list[Output]:
    """The outputs of a float graph, in order, before any sample.

    Classes are what a softmax gives, in its dimension, and rows of two values or more.
    """
    nodes = [n for n in tree_leaves(returned(floats)[0]) if isinstance(n, Node)]
    return [_output(node) for node in nodes]


def _output(node: Node) -> Output:
    value = node.meta["val"]
    if not value.is_floating_point():
        return Output(node.name, None, value.numel() == 1)
    dim = None
    if node.target in _SOFTMAX:
        dim = int(arguments(node)["dim"])
    elif value.dim() == 2:
        dim = 1
    if dim is None or value.shape[dim] < 2:
        return Output(node.name, None, False)
    return Output(node.name, dim, value.numel() == value.shape[dim])


def measure(
    outputs: Sequence[Output],
    samples: Sequences,
    float_model: FloatModel,
    lowered: Reference,
    io_layout: str,
) -> None:
    """Runs both models on samples and adds what they give to the outputs."""
    float_model.reset()
    lowered.reset()
    for starts, inputs in samples:
        if starts:
            float_model.reset()
            lowered.reset()
        expected = float_model(inputs)
        actual = _in_model_layout(lowered, inputs, io_layout)
        for output, e, a in zip(outputs, expected, actual, strict=True):
            output.add(e, a)
    lowered.reset()


def _in_model_layout(
    lowered: Reference, inputs: Sequence[torch.Tensor], io_layout: str
) -> Sequence[torch.Tensor]:
    """What the lowered model gives in float, with dimensions in the order of the user's model."""
    if io_layout == TO_NHWC_BORDER:
        inputs = [_permuted(x, TO_NHWC) for x in inputs]
    results = lowered.dequantize_outputs(lowered.reference(inputs))
    return [_permuted(x, TO_NCHW) for x in results] if io_layout == TO_NHWC_BORDER else results


def _permuted(x: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    return x.permute(*order) if x.dim() == 4 else x
