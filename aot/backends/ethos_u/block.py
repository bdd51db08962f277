# SPDX-License-Identifier: Apache-2.0
"""A TOSA 1.0 graph in the making: its values, constants, border and flatbuffer. The operators are
in tosa.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import tosa_serializer as ts

from aot.backends.npus import Npu

Array = npt.NDArray[Any]
INT8, INT16 = int(ts.DType.INT8), int(ts.DType.INT16)
INT32, INT48 = int(ts.DType.INT32), int(ts.DType.INT48)

NUMPY: dict[int, type[np.integer[Any]]] = {
    INT8: np.int8,
    INT16: np.int16,
    INT32: np.int32,
    INT48: np.int64,
}
OF_TORCH = {torch.int8: INT8, torch.int16: INT16, torch.bool: INT8}
"""TOSA types of the dialect's activations; bools are 0 and 1."""


@dataclass(frozen=True)
class TosaValue:
    """A tensor of a graph; dtype is its number in TOSA."""

    name: str
    shape: tuple[int, ...]
    dtype: int


def attribute(kind: str, *args: Any, **kwargs: Any) -> Any:
    """Return an operator's attribute in the serializer's form."""
    made = ts.TosaSerializerAttribute()
    getattr(made, kind + "Attribute")(*args, **kwargs)
    return made


def undoes(
    turned: Sequence[int], first: Sequence[int], shape: Sequence[int], second: Sequence[int]
) -> bool:
    """Return True if a transpose, `second`, undoes the transpose whose result it reads.

    The result may be read in a shape differing in dimensions of 1 only.
    """
    if [size for size in turned if size != 1] != [size for size in shape if size != 1]:
        return False
    places = iter([d for d, size in zip(first, turned, strict=True) if size != 1])
    place_of = {d: next(places) for d, size in enumerate(shape) if size != 1}
    order = [place_of[d] for d in second if d in place_of]
    return order == sorted(order)


class TosaBlock:
    """Builder that adds values and operators one by one. The same calls give the same bytes.

    Attributes:
      npu: the target of the graph.
      writer: the op whose values are added, for `writers`.
      ends: True if nothing in the graph reads the writer's result.
      limits: True if results of convolutions get a CLAMP over all their values.
      writers: the op that added a value, by the value's name.
    """

    def __init__(self, npu: Npu) -> None:
        self.npu = npu
        self._serializer = ts.TosaSerializer(
            "", targetMajor=1, targetMinor=0, targetPatch=0, targetDraft=False
        )
        self._block = self._serializer.currRegion.currBasicBlock
        self._count = 0
        self.writer = ""
        self.ends = False
        self.limits = False
        self.writers: dict[str, str] = {}
        self._shared: set[str] = set()  # names of values with several readers
        self._border: set[str] = set()  # names of inputs and outputs
        self._slices: set[str] = set()  # names of results of SLICE
        self._products: set[str] = set()  # and MATMUL, rescaled and clamped
        self._convolved: set[str] = set()  # and convolutions
        self._copies: dict[str, TosaValue] = {}  # sources of copies by `near`, by the copy's name
        self._views: dict[str, TosaValue] = {}  # source of a RESHAPE, by its name
        self._written: set[str] = set()  # names of values with a reader
        self._turned: dict[
            str, tuple[TosaValue, Sequence[int]]
        ] = {}  # source and order of a TRANSPOSE
        self._biases: dict[tuple[bytes, ...], Array] = {}  # of sums, by their weights and scale

    def is_input(self, x: TosaValue) -> bool:
        """Return True if x is an input of the graph, possibly reshaped."""
        return self.before_reshape(x).name in self._border

    def reads_slowly(self, x: TosaValue) -> bool:
        """Return True if reading x twice takes longer than a copy of it."""
        return self.npu.keeps_inputs_far and self.is_input(x)

    def share(self, x: TosaValue) -> None:
        """Mark a value as read by several ops."""
        self._shared.add(x.name)

    def is_shared(self, x: TosaValue) -> bool:
        return x.name in self._shared

    def serialize(self) -> bytes:
        return bytes(self._serializer.serialize())

    def input(self, like: torch.Tensor) -> TosaValue:
        """Return an input of the graph, of a tensor's shape and dtype."""
        value = TosaValue(self._name(), tuple(like.shape), OF_TORCH[like.dtype])
        tensor = ts.TosaSerializerTensor(value.name, list(like.shape), value.dtype, data=None)
        self._serializer.addInputTensor(tensor)
        self._border.add(value.name)
        return value

    def output(self, value: TosaValue) -> None:
        if value.name in self._border:  # Vela takes no tensor for two of them
            value = self._view(value, value.shape)
        self._write(value)
        self._block.addOutput(value.name)
        self._border.add(value.name)

    def constant(self, data: Any, dtype: int) -> TosaValue:
        array = np.asarray(data, NUMPY[dtype])
        name = self._name()
        self._serializer.addConst(list(array.shape), dtype, array, name=name)
        return TosaValue(name, array.shape, dtype)

    def operand(self, value: TosaValue | torch.Tensor) -> TosaValue:
        """Return a value, or a constant of the dialect as one."""
        if isinstance(value, TosaValue):
            return value
        return self.constant(value.numpy(), OF_TORCH[value.dtype])

    def reshape(self, x: TosaValue, shape: Sequence[int]) -> TosaValue:
        """Return x in a shape: x itself, its source before a reshape, or a RESHAPE.

        The RESHAPE is written only if something reads it.
        """
        if x.shape == tuple(shape):
            return x
        base = self.before_reshape(x)
        return base if base.shape == tuple(shape) else self._view(base, shape)

    def before_reshape(self, x: TosaValue) -> TosaValue:
        """Return the source of a reshape, or x if it is none."""
        return self._views.get(x.name, x)

    def _view(self, x: TosaValue, shape: Sequence[int]) -> TosaValue:
        y = TosaValue(self._name(), tuple(shape), x.dtype)
        self._views[y.name] = x
        return y

    def _write(self, view: TosaValue) -> None:
        """Add the RESHAPE, if a value is one and it is not there yet."""
        if view.name in self._views and view.name not in self._written:
            self._written.add(view.name)
            inputs = [self._views[view.name], self._shape(view.shape)]
            self._add(ts.Op.RESHAPE, inputs, view, attribute("Reshape"))

    def _shape(self, values: Sequence[int]) -> TosaValue:
        name = self._name()
        dtype = int(ts.DType.SHAPE)
        self._serializer.addConst([len(values)], dtype, [int(v) for v in values], name=name)
        return TosaValue(name, (len(values),), dtype)

    def _operator(
        self,
        op: int,
        inputs: Sequence[TosaValue],
        shape: Sequence[int],
        dtype: int,
        attributes: Any,
    ) -> TosaValue:
        value = TosaValue(self._name(), tuple(int(s) for s in shape), dtype)
        self._add(op, inputs, value, attributes)
        return value

    def _add(
        self, op: int, inputs: Sequence[TosaValue], result: TosaValue, attributes: Any
    ) -> None:
        for value in inputs:
            self._write(value)
        self._block.addTensor(result.name, list(result.shape), result.dtype)
        names = [v.name for v in inputs]
        outputs = [result.name]
        self._serializer.addOperator(op, inputs=names, outputs=outputs, attributes=attributes)

    def _name(self) -> str:
        self._count += 1
        name = f"v{self._count}"
        self.writers[name] = self.writer
        return name
