# SPDX-License-Identifier: Apache-2.0
"""Check of a graph's forms: Vela 5.1.0 compiles only some of them correctly. The check finds them
without compiling and executing the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from tosa import Op
from tosa.AvgPool2dAttribute import AvgPool2dAttribute
from tosa.Conv2dAttribute import Conv2dAttribute
from tosa.DepthwiseConv2dAttribute import DepthwiseConv2dAttribute
from tosa.MaxPool2dAttribute import MaxPool2dAttribute
from tosa.TosaGraph import TosaGraph
from tosa.TosaOperator import TosaOperator
from tosa.TransposeAttribute import TransposeAttribute

from aot.backends.ethos_u.block import INT48, undoes
from aot.backends.npus import Npu

_NAMES = {value: name for name, value in vars(Op.Op).items() if isinstance(value, int)}
_LOSES_SLICES = ("REDUCE_MAX", "REDUCE_SUM", "MATMUL", "TRANSPOSE_CONV2D")
_LEAVES_OFFSETS = ("CONCAT", "PAD")
_FUSED = ("TABLE", "CLAMP")
_UNARY = ("ABS", "CLZ")
_ELEMENTWISE = (*_UNARY, "ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "LOGICAL_LEFT_SHIFT")
_WIDE_BITS = 15  # of the multiplier of 48-bit accumulators
_ONE = (1 << 30).to_bytes(4, "little"), bytes([30])  # multiplier and shift
_RANK_OF_MATMUL = 3
_CONVOLUTIONS = ("CONV2D", "DEPTHWISE_CONV2D", "TRANSPOSE_CONV2D")
_PADDED = {
    "CONV2D": Conv2dAttribute,
    "DEPTHWISE_CONV2D": DepthwiseConv2dAttribute,
    "AVG_POOL2D": AvgPool2dAttribute,
    "MAX_POOL2D": MaxPool2dAttribute,
}
"""Attributes of the kinds with windows that may start before their input."""


class FormError(RuntimeError):
    """A form compiled wrongly by Vela 5.1.0."""


@dataclass(frozen=True)
class _Operator:
    """Operator of a graph; values are given by name.

    Attributes:
      perm: order of dimensions of a TRANSPOSE.
      is_padded: True if windows start before their input.
    """

    kind: str
    inputs: tuple[str, ...]
    output: str
    perm: tuple[int, ...]
    is_padded: bool


class _Graph:
    """A TOSA graph, read from bytes.

    Attributes:
      shapes: shapes of values, by name.
      constants: bytes of the constant values, by name.
      wide: names of values of 48 bits.
      operators: in graph order.
    """

    def __init__(self, tosa: bytes) -> None:
        block = TosaGraph.GetRootAs(tosa, 0).Regions(0).Blocks(0)
        tensors = [block.Tensors(i) for i in range(block.TensorsLength())]
        self.shapes = {
            t.Name().decode(): tuple(t.Shape(i) for i in range(t.ShapeLength())) for t in tensors
        }
        self.constants = {
            t.Name().decode(): t.DataAsNumpy().tobytes() for t in tensors if t.DataLength()
        }
        self.wide = {t.Name().decode() for t in tensors if t.Type() == INT48}
        found = (block.Operators(i) for i in range(block.OperatorsLength()))
        self.operators = [
            _Operator(
                _NAMES[o.Op()],
                tuple(o.Inputs(i).decode() for i in range(o.InputsLength())),
                o.Outputs(0).decode(),
                _perm(o),
                _is_padded(o),
            )
            for o in found
        ]
        self._writers = {o.output: o for o in self.operators}

    def behind(self, name: str, *through: str) -> str:
        """Return the kind of operator giving a value, before RESHAPEs and the kinds in
        `through`.
        """
        writer = self._writer(name, *through)
        return writer.kind if writer is not None else ""

    def is_wide_behind(self, name: str) -> bool:
        """Return True if a value is the RESCALE of a value of 48 bits."""
        writer = self._writer(name)
        return writer is not None and writer.kind == "RESCALE" and writer.inputs[0] in self.wide

    def ends_a_chain(self, name: str) -> bool:
        """Return True if a value is of a unary operator behind another element-wise one."""
        writer = self._writer(name, "RESCALE", "CLAMP")
        if writer is None or writer.kind not in _UNARY:
            return False
        return self.behind(writer.inputs[0], "RESCALE", "CLAMP") in _ELEMENTWISE

    def is_turned_twice(self, name: str) -> bool:
        """Return True if a value is a TRANSPOSE of a TRANSPOSE."""
        writer = self._writer(name)
        if writer is None or writer.kind != "TRANSPOSE":
            return False
        return self.behind(writer.inputs[0]) == "TRANSPOSE"

    def is_undone(self, operator: _Operator) -> bool:
        """Return True if a TRANSPOSE undoes a TRANSPOSE of an operator's result."""
        first = self._writer(operator.inputs[0])
        if first is None or first.kind != "TRANSPOSE" or self._writer(first.inputs[0]) is None:
            return False
        read = self.shapes[operator.inputs[0]]
        return undoes(self.shapes[first.output], first.perm, read, operator.perm)

    def shares_weights(self) -> bool:
        """Return True if two convolutions have equal weights and scales, but different biases."""
        biases: dict[tuple[object, ...], bytes] = {}
        for o in self.operators:
            if o.kind in _CONVOLUTIONS:
                _, weights, bias = o.inputs[:3]
                rescaled = (r for r in self.operators if r.inputs[:1] == (o.output,))
                scales = [self.constants.get(name) for r in rescaled for name in r.inputs[1:3]]
                key = o.kind, self.shapes[weights], self.constants[weights], *scales
                if biases.setdefault(key, self.constants[bias]) != self.constants[bias]:
                    return True
        return False

    def _writer(self, name: str, *through: str) -> _Operator | None:
        writer = self._writers.get(name)
        while writer is not None and writer.kind in ("RESHAPE", *through):
            writer = self._writers.get(writer.inputs[0])
        return writer


def _perm(operator: TosaOperator) -> tuple[int, ...]:
    if operator.Op() != Op.Op.TRANSPOSE:
        return ()
    table, attribute = operator.Attribute(), TransposeAttribute()
    attribute.Init(table.Bytes, table.Pos)
    return tuple(attribute.Perms(i) for i in range(attribute.PermsLength()))


def _is_padded(operator: TosaOperator) -> bool:
    made = _PADDED.get(_NAMES[operator.Op()])
    if made is None:
        return False
    table, attribute = operator.Attribute(), made()
    attribute.Init(table.Bytes, table.Pos)
    return bool(attribute.Pad(0) or attribute.Pad(2))


def check_forms(tosa: bytes, npu: Npu) -> None:
    """Check the forms of a graph's operators.

    Raises:
      FormError: Vela compiles one of the graph's operators into something else.
    """
    graph = _Graph(tosa)
    if graph.shares_weights():
        told = "two convolutions of the same weights and scales, but other biases"
        raise FormError(f"{told}: Vela 5.1.0 gives both the biases of one of them")
    for operator in graph.operators:
        for problem in _problems(graph, operator, npu):
            raise FormError(f"{problem}: Vela 5.1.0 makes something else of that")


def _problems(graph: _Graph, operator: _Operator, npu: Npu) -> Iterator[str]:
    kind = operator.kind
    if kind == "REDUCE_MIN":
        yield "REDUCE_MIN"
    if kind == "CONV2D":
        before, after = graph.shapes[operator.inputs[0]], graph.shapes[operator.output]
        kernel = graph.shapes[operator.inputs[1]][1:3]
        if before[0] > 1 and kernel == (1, 1) and before[1:3] == after[1:3]:
            yield f"a convolution of 1x1 over a batch of {before[0]}"
    if kind == "DEPTHWISE_CONV2D" and graph.shapes[operator.inputs[1]][3] > 1:
        yield "a depthwise convolution with a multiplier"
    if kind in _LOSES_SLICES:
        through = ["RESCALE"] if kind.startswith("REDUCE") else []
        if graph.behind(operator.inputs[0], *through) == "SLICE":
            yield f"a slice before {kind}"
    if operator.is_padded:
        batch = graph.shapes[operator.inputs[0]][0]
        if batch > 1 and graph.behind(operator.inputs[0]) == "SLICE":
            yield f"a slice over a batch of {batch} before {kind} with padding"
    if kind in _LEAVES_OFFSETS:
        for name in operator.inputs if kind == "CONCAT" else operator.inputs[:1]:
            if graph.behind(name) == "REDUCE_MAX":
                yield f"{kind} behind REDUCE_MAX"
            rank = len(graph.shapes[name])
            if graph.behind(name, "RESCALE", "CLAMP") == "MATMUL" and rank != _RANK_OF_MATMUL:
                yield f"{kind} behind MATMUL in {rank} dimensions"
    if kind in _FUSED and graph.is_turned_twice(operator.inputs[0]):
        yield f"{kind} behind two transposes"
    if kind == "TRANSPOSE" and graph.is_undone(operator):
        yield "a transpose that undoes another one"
    if kind == "TABLE" and npu.is_smallest and graph.behind(operator.inputs[0]) == "TRANSPOSE":
        yield "a table behind a transpose, on this NPU"
    if npu.is_u85:
        yield from _problems_on_u85(graph, operator)


def _significant_bits(multipliers: bytes) -> int:
    """Return the bits needed by the largest of int32 multipliers, without zeros at the end."""
    values = np.frombuffer(multipliers, np.int32)
    return max(len(f"{v:b}".rstrip("0")) for v in values)


def _problems_on_u85(graph: _Graph, operator: _Operator) -> Iterator[str]:
    if operator.kind in _LEAVES_OFFSETS and any(map(graph.ends_a_chain, operator.inputs)):
        yield f"{operator.kind} behind element-wise operators that end with ABS or CLZ"
    if operator.kind != "RESCALE":
        return
    x, multiplier, shift = operator.inputs[:3]
    if graph.is_wide_behind(x) and _significant_bits(graph.constants[multiplier]) > _WIDE_BITS:
        yield f"sums of 48 bits, and a multiplier of more than {_WIDE_BITS} bits behind them"
    if graph.behind(x) == "MATMUL" and graph.shapes[multiplier] != (1,):
        yield "a MATMUL with a scale by channel"
    scale = graph.constants[multiplier], graph.constants[shift]
    if graph.behind(x) == "LOGICAL_LEFT_SHIFT" and scale == _ONE:
        yield "LOGICAL_LEFT_SHIFT before a RESCALE by 1"
