# SPDX-License-Identifier: Apache-2.0
"""Lowering of ATen ops to the dialect: one rule for each family, used by the quantizer and by the
fold pass.

A rule defines the activation arguments of the op and the relation of the output's quantization to
theirs. It also defines if a following clamp can be fused. It gives the reason for each unsupported
form of the op, and makes the typed nodes.
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
"""Integer types and their replacement. The device has only one."""

HEADROOM = 1 / 8
"""Additional share of a range beyond calibration, for values seen too rarely to include their
largest ones.
"""

HEADROOM_INT16 = 1 / 4
"""The same of int16 values: it costs 2 dB of more than 90, and values outside cost more."""


@dataclass(frozen=True)
class Observed:
    """Output quantization: observed by itself.

    Attributes:
      headroom: additional share of the range beyond calibration.
    """

    headroom: float = 0.0


@dataclass(frozen=True)
class Shares:
    """Inputs and output have one scale and zero_point."""


@dataclass(frozen=True)
class Fixed:
    """Output quantization: derived from the function's range.

    Attributes:
      quantization: of the whole range.
      finer: if calibration shows only a part of the range, the scale may be a finer one,
        1/n with an integer n.
    """

    quantization: Quantization
    finer: bool = False


@dataclass(frozen=True)
class Within:
    """Output quantization: that of an activation, because no output value exceeds its range.

    Attributes:
      activation: its index in `Rule.activations`.
    """

    activation: int


KNOWN_OUTPUT = "known_output"
"""Key of a node's meta for a Fixed or a Within. The maker of the node sets it if it knows more
about the values than the op's rule, and than calibration may show.
"""


@dataclass(frozen=True)
class Exact:
    """Output quantization: integer inputs, held exactly by this quantization, independent of a
    layer's setting.
    """

    quantization: Quantization


@dataclass(frozen=True)
class Integers:
    """The output is not quantized: its values are numbers as they are, e.g. indices."""


@dataclass(frozen=True)
class Carries:
    """Output quantization: a recurrent state, int16 with power-of-two scale 2^-n, calibrated over
    all time steps.

    Attributes:
      activation: its index in `Rule.activations`.
      spare_bits: an unbounded value may grow to 2^spare_bits times its calibrated size;
        sequences on the device are longer.
    """

    activation: int
    spare_bits: int = 0


Output = Observed | Shares | Fixed | Exact | Integers | Carries


@dataclass
class Call:
    """One float op between quantized values, as passed to a rule's `emit`.

    Attributes:
      node: the ATen node.
      module: the module holding its constants.
      inputs: quantized activation nodes in the new graph, in the order of
        `Rule.activations`.
      quantization: of the result; None if it is not quantized.
      clamp: a clamp to fuse.
      builder: makes the nodes.
      origin: metadata for them.
      unquantized: returns the new graph's node of an unquantized value, such as a mask or
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
        """Return a row-major node of the result's quantization, unless another edge is given."""
        edge = edge or Edge(self.quantization)
        return self.builder.call(op, *args, edge=edge, origin=self.origin)

    def result(self, call: Node, index: int) -> Node:
        """Return the result, one of several of an emitted call."""
        edge = Edge(self.quantization)
        return self.builder.result(call, index, edge=edge, origin=self.origin)

    def constant(self, name: str, tensor: torch.Tensor, edge: Edge | None = None) -> Node:
        return self.builder.constant(f"{self.node.name}_{name}", tensor, edge)

    def activation_range(self) -> tuple[int, int]:
        """Return (activation_min, activation_max): limits of the result with the clamp fused."""
        return self.output.limits(self.clamp.minimum, self.clamp.maximum)


class Rule(Protocol):
    """A family of ATen ops, or one result of those that have several."""

    fuses_clamp: ClassVar[bool]

    @property
    def output(self) -> Output: ...

    def activations(self, node: Node) -> list[Node]:
        """Return the argument nodes quantized as activations."""
        ...

    def weights(self, node: Node) -> Node | Sequence[Node] | None:
        """Return the argument node, or nodes, quantized per channel (axis 0), or None."""
        ...

    def op(self, node: Node) -> Op:
        """Return the dialect op that computes the result."""
        ...

    def reject(self, node: Node) -> tuple[str, str] | None:
        """Return why this form has no int8 op, and a replacement; None if it is supported."""
        ...

    def emit(self, call: Call) -> Node:
        """Make the dialect nodes; return the one that stands for the result."""
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
    """Return an ATen node's argument by schema name, or the schema's default."""
    schema = node.target._schema  # type: ignore[union-attr]
    for index, entry in enumerate(schema.arguments):
        if entry.name == name:
            if index < len(node.args):
                return node.args[index]
            return node.kwargs.get(name, entry.default_value)
    raise KeyError(f"{node.target} has no argument {name}")


def reduction(node: Node, rank: int) -> tuple[list[int], bool]:
    """Return the dimensions an ATen node reduces (all by default), and its keepdim flag."""
    names = [entry.name for entry in node.target._schema.arguments]  # type: ignore[union-attr]
    dim = argument(node, "dim") if "dim" in names else None
    dims = [dim] if isinstance(dim, int) else dim or range(rank)
    keepdim = "keepdim" in names and bool(argument(node, "keepdim"))
    return sorted({d % rank for d in dims} if rank else ()), keepdim


def pair(value: Any) -> list[int]:
    """Return torch's int-or-pair arguments as two ints."""
    values = [value] if isinstance(value, int) else list(value)
    return values * 2 if len(values) == 1 else values


def as_clamp(node: Node) -> Clamp | None:
    """Return the clamp a node computes, or None: relu, relu6 (as hardtanh), hardtanh, clamp."""
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
