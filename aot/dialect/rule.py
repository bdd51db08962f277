# SPDX-License-Identifier: Apache-2.0
"""How an ATen op becomes ops of the dialect: one rule a family, read by the quantizer and by the
fold pass.

A rule says which of the op's arguments are activations, how the output's quantization relates to
theirs, whether a clamp that follows can be fused, why a form of the op is not supported, and how
the typed nodes are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import Builder, Edge, Origin
from aot.dialect.library import Op
from aot.dialect.quantization import Quantization
from aot.dialect.results import taken_from


@dataclass(frozen=True)
class Clamp:
    """A float clamp fused with the op before it (relu, relu6, hardtanh, clamp); None is open."""

    minimum: float | None = None
    maximum: float | None = None


ON_DEVICE = dict.fromkeys((torch.int64, torch.int16, torch.int8, torch.uint8), torch.int32)
"""What integers become, which the device has of one type."""

HEADROOM = 1 / 8
"""By which share a range is wider than calibration shows, where a value is seen too rarely for its
largest ones to be among them."""

HEADROOM_INT16 = 1 / 4
"""The same of int16 values: it costs 2 dB of more than 90, and values outside cost more."""


@dataclass(frozen=True)
class Observed:
    """The output is observed by itself.

    Attributes:
      headroom: by which share the range is wider than calibration shows.
    """

    headroom: float = 0.0


@dataclass(frozen=True)
class Shares:
    """Inputs and output have one scale and zero_point."""


@dataclass(frozen=True)
class Fixed:
    """The output's quantization follows from the function's range.

    Attributes:
      quantization: of the whole range.
      finer: where calibration shows only a part of the range, the scale may be a finer one, 1/n
        with an integer n.
    """

    quantization: Quantization
    finer: bool = False


@dataclass(frozen=True)
class Within:
    """No value of the output is beyond those of an activation, whose scale and zero point it has.

    Attributes:
      activation: its index in `Rule.activations`.
    """

    activation: int


KNOWN_OUTPUT = "known_output"
"""In the meta of a node a Fixed or a Within, where what made the node knows more of its values than
the op's rule, and than calibration may show."""


@dataclass(frozen=True)
class Exact:
    """The output is whole numbers, which this quantization holds as they are, whatever a layer asks
    for.
    """

    quantization: Quantization


@dataclass(frozen=True)
class Integers:
    """The output is not quantized: its values are numbers as they are, e.g. indices."""


@dataclass(frozen=True)
class Carries:
    """The output is what becomes of an activation in a loop: a state of the scale 2^-n, int16, that
    all states on the way are observed for.

    Attributes:
      activation: its index in `Rule.activations`.
      spare_bits: a value that nothing bounds may get 2^spare_bits times as large as calibration
        shows; sequences on the device are longer.
    """

    activation: int
    spare_bits: int = 0


Output = Observed | Shares | Fixed | Exact | Integers | Carries


@dataclass
class Call:
    """One float op between quantized values, as a rule's `emit` sees it.

    Attributes:
      node: the ATen node.
      module: the module that holds its constants.
      inputs: quantized activation nodes in the new graph, in the order of `Rule.activations`.
      quantization: of the result; None where it is not quantized.
      clamp: a clamp to fuse.
      builder: makes the nodes.
      origin: what to write on them.
      unquantized: the new graph's node of a value that is not quantized, such as a mask or
        indices.
    """

    node: Node
    module: GraphModule
    inputs: Sequence[Node]
    quantization: Quantization | None
    builder: Builder
    origin: Origin
    unquantized: Callable[[Node], Node]
    clamp: Clamp = field(default_factory=Clamp)

    @property
    def output(self) -> Quantization:
        """Quantization of the result."""
        assert self.quantization is not None, self.node
        return self.quantization

    def emit(self, op: Op, *args: Any, edge: Edge | None = None) -> Node:
        """A row-major node of the result's quantization, unless another edge is given."""
        edge = edge or Edge(self.quantization)
        return self.builder.call(op, *args, edge=edge, origin=self.origin)

    def result(self, call: Node, index: int) -> Node:
        """The result, one of several of an emitted call."""
        edge = Edge(self.quantization)
        return self.builder.result(call, index, edge=edge, origin=self.origin)

    def constant(self, name: str, tensor: torch.Tensor, edge: Edge | None = None) -> Node:
        return self.builder.constant(f"{self.node.name}_{name}", tensor, edge)

    def activation_range(self) -> tuple[int, int]:
        """(activation_min, activation_max): limits of the result with the clamp fused."""
        return self.output.limits(self.clamp.minimum, self.clamp.maximum)


class Rule(Protocol):
    """A family of ATen ops, or one result of those that have several."""

    fuses_clamp: ClassVar[bool]

    @property
    def output(self) -> Output: ...

    def activations(self, node: Node) -> list[Node]:
        """The argument nodes that are quantized as activations."""
        ...

    def weights(self, node: Node) -> Node | Sequence[Node] | None:
        """The argument node, or nodes, quantized per channel (axis 0), or None."""
        ...

    def op(self, node: Node) -> Op:
        """The op of the dialect that computes the result."""
        ...

    def reject(self, node: Node) -> tuple[str, str] | None:
        """Why this form has no int8 op, and what to write instead; None if it is supported."""
        ...

    def emit(self, call: Call) -> Node:
        """Makes the dialect nodes; returns the one that stands for the result."""
        ...


@dataclass(frozen=True)
class Example:
    """A call that tests lower, compare with its reference and run on every core.

    Attributes:
      function: of a float32 tensor.
      shape: of the tensor.
      ops: how many of each op of the dialect come of it, the op that it is of first.
    """

    function: Callable[[torch.Tensor], torch.Tensor]
    shape: tuple[int, ...]
    ops: Mapping[str, int]


@dataclass(frozen=True)
class Family:
    """The rules of a file.

    Attributes:
      rules: by the ATen op that they lower.
      kept: those among the ops that are composite: export leaves them whole, for decomposition
        would scatter them.
      results: of ops with several results, the rule of each, in order, as far as there are any.
      examples: of an op that has no row in the tables of tests/ops.
    """

    rules: Mapping[object, Rule]
    kept: Sequence[object] = ()
    results: Mapping[object, tuple[Rule, ...]] = field(default_factory=dict)
    examples: Sequence[Example] = ()


class UnaryRule:
    """Shared by rules with one activation, argument 0, and no weights."""

    output: ClassVar[Output] = Observed()
    fuses_clamp: ClassVar[bool] = False

    def activations(self, node: Node) -> list[Node]:
        argument = taken_from(node)[0].args[0]
        assert isinstance(argument, Node)
        return [argument]

    def weights(self, node: Node) -> Node | None:
        return None

    def reject(self, node: Node) -> tuple[str, str] | None:
        return None


def argument(node: Node, name: str) -> Any:
    """An ATen node's argument by schema name, with the schema's default where it is left out."""
    schema = node.target._schema  # type: ignore[union-attr]
    for index, entry in enumerate(schema.arguments):
        if entry.name == name:
            if index < len(node.args):
                return node.args[index]
            return node.kwargs.get(name, entry.default_value)
    raise KeyError(f"{node.target} has no argument {name}")


def reduction(node: Node, rank: int) -> tuple[list[int], bool]:
    """The dimensions that an ATen node reduces, all where it names none, and whether they stay."""
    names = [entry.name for entry in node.target._schema.arguments]  # type: ignore[union-attr]
    dim = argument(node, "dim") if "dim" in names else None
    dims = [dim] if isinstance(dim, int) else dim or range(rank)
    keepdim = "keepdim" in names and bool(argument(node, "keepdim"))
    return sorted({d % rank for d in dims} if rank else ()), keepdim


def pair(value: Any) -> list[int]:
    """torch's int-or-pair arguments as two ints."""
    values = [value] if isinstance(value, int) else list(value)
    return values * 2 if len(values) == 1 else values


def as_clamp(node: Node) -> Clamp | None:
    """The clamp that a node computes, or None: relu, relu6 (as hardtanh), hardtanh, clamp."""
    name = str(node.target)
    if name == "aten.relu.default":
        return Clamp(minimum=0.0)
    if name == "aten.hardtanh.default":
        return Clamp(float(argument(node, "min_val")), float(argument(node, "max_val")))
    if name == "aten.clamp.default":
        low, high = argument(node, "min"), argument(node, "max")
        return Clamp(
            None if low is None else float(low),
            None if high is None else float(high),
        )
    return None
