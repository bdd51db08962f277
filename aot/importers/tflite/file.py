# SPDX-License-Identifier: Apache-2.0
"""Reader of a .tflite file into plain values.

The file may contain anything. All read values are checked against the file's size before use. A
damaged or a hostile file therefore gives an error, and takes no more memory than its size suggests.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ethosu.vela.tflite.BuiltinOperator import BuiltinOperator
from ethosu.vela.tflite.BuiltinOptions import BuiltinOptions
from ethosu.vela.tflite.Model import Model as _Model
from ethosu.vela.tflite.TensorType import TensorType

from aot.errors import LoweringError, describe

_IDENTIFIER = b"TFL3"
_VERSION = 3
_PLACEHOLDER_FOR_GREATER_CODES = 127
_MOST_ELEMENTS = 2**26  # of a tensor: no microcontroller holds more
_MOST_ITEMS = 2**15  # of a graph's tensors and operators
_MOST_RANK = 8

TYPES: dict[str, Any] = {
    "UINT8": np.uint8,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "FLOAT32": np.float32,
    "BOOL": np.bool_,
}
"""Types with readable values, by their names in the schema, as numpy types."""


DAMAGE = (struct.error, LookupError, ValueError, TypeError, ArithmeticError, AttributeError)
"""Errors of flatbuffers and numpy for an offset outside the file, or an invalid number."""


def names_of(enumeration: type) -> dict[int, str]:
    """Return the names of a schema enumeration, by number."""
    return {v: k for k, v in vars(enumeration).items() if isinstance(v, int)}


_TYPE_NAMES = names_of(TensorType)
_OPERATOR_NAMES = names_of(BuiltinOperator)


@dataclass(frozen=True, eq=False)
class TfliteTensor:
    """A value of a graph.

    Attributes:
      index: in its graph.
      name: from the file; may be empty.
      shape: of constants and computed values alike.
      type: the schema's name, e.g. "INT8".
      scales: float32 numbers; one, or one for each index of the dimension `axis`; none if
        it is not quantized.
      zero_points: as many as scales.
      axis: of the scales.
      data: the values of a constant, of `type` and `shape`; None for a computed value.
      is_variable: True if it persists between runs.
      was_unsigned: True if it is uint8 in the file, and int8 here.
      was_halved: True if it has twice the scale here, and zero point 0 in place of -32768.
      was_unscaled: True if it has no scale in the file, and another value's here.
    """

    index: int
    name: str
    shape: tuple[int, ...]
    type: str
    scales: tuple[float, ...] = ()
    zero_points: tuple[int, ...] = ()
    axis: int = 0
    data: np.ndarray[Any, Any] | None = None
    is_variable: bool = False
    was_unsigned: bool = False
    was_halved: bool = False
    was_unscaled: bool = False


@dataclass(frozen=True, eq=False)
class TfliteOperator:
    """A call of a builtin.

    Attributes:
      name: of the builtin, e.g. "CONV_2D", or "CUSTOM ..." with its own name.
      inputs: indices of tensors; -1 for an omitted optional one.
      outputs: likewise.
      options: the builtin's options, as a class of the schema such as Conv2DOptions; None
        if the file has none of that kind.
    """

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class TfliteGraph:
    """A subgraph of the file; inputs and outputs are indices of tensors."""

    tensors: Sequence[TfliteTensor]
    operators: Sequence[TfliteOperator]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def read(data: bytes) -> list[TfliteGraph]:
    """Return the graphs of a file, the main one first.

    Raises:
      LoweringError: it is no .tflite file, or it is damaged.
    """
    given: object = data
    if not isinstance(given, bytes | bytearray | memoryview):
        raise LoweringError(
            "the .tflite file must be given as bytes, Path(...).read_bytes(); got "
            f"{describe(given)}"
        )
    if len(data) < 8 or data[4:8] != _IDENTIFIER:
        raise LoweringError(
            f"this is not a .tflite file: bytes 4 to 8 are {bytes(data[4:8])!r}, not "
            f"{_IDENTIFIER!r}"
        )
    try:
        return _File(data).graphs()
    except DAMAGE as error:
        raise LoweringError(f"the .tflite file is damaged: {error}") from error


def blob(data: bytes, index: int) -> bytes:
    """Return the bytes of a tensor in the main graph of a file for `read`, of any type."""
    model = _Model.GetRootAs(data, 0)
    buffer = model.Buffers(model.Subgraphs(0).Tensors(index).Buffer())
    return bytes(buffer.DataAsNumpy()) if buffer.DataLength() else b""


class _File:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._size = len(data)
        self._model = _Model.GetRootAs(data, 0)

    def graphs(self) -> list[TfliteGraph]:
        if self._model.Version() != _VERSION:
            raise LoweringError(
                f"the .tflite file has schema version {self._model.Version()}, not {_VERSION}"
            )
        count = self._count(self._model.SubgraphsLength())
        if count == 0:
            raise LoweringError("the .tflite file has no graph")
        return [self._graph(self._model.Subgraphs(i)) for i in range(count)]

    def _count(self, length: int) -> int:
        if length > min(self._size // 4, _MOST_ITEMS):
            raise LoweringError(f"the .tflite file is damaged: a list of {length} items")
        return length

    def _graph(self, graph: Any) -> TfliteGraph:
        tensors = [
            self._tensor(i, graph.Tensors(i)) for i in range(self._count(graph.TensorsLength()))
        ]
        operators = [
            self._operator(i, graph.Operators(i))
            for i in range(self._count(graph.OperatorsLength()))
        ]
        inputs, outputs = self._indices(graph, "Inputs"), self._indices(graph, "Outputs")
        for index in (*inputs, *outputs):
            if not 0 <= index < len(tensors):
                raise LoweringError(
                    f"the .tflite file is damaged: the graph has no tensor {index} of its border"
                )
        for place, operator in enumerate(operators):
            for index in (*operator.inputs, *operator.outputs):
                if not -1 <= index < len(tensors):
                    raise LoweringError(
                        f"the .tflite file is damaged: op {place} {operator.name} names tensor "
                        f"{index} of {len(tensors)}"
                    )
        return TfliteGraph(tensors, operators, inputs, outputs)

    def _indices(self, table: Any, field: str) -> tuple[int, ...]:
        self._count(getattr(table, f"{field}Length")())
        return tuple(int(i) for i in self._numbers(table, field))

    def _numbers(self, table: Any, field: str) -> np.ndarray[Any, Any]:
        """Return a list of numbers; reading it fails where it leads out of the file."""
        if getattr(table, f"{field}Length")() == 0:
            return np.zeros(0, np.int64)
        return np.asarray(getattr(table, f"{field}AsNumpy")())

    def _tensor(self, index: int, table: Any) -> TfliteTensor:
        name = (table.Name() or b"").decode("utf-8", "replace")
        where = f"tensor {index} `{name}`"
        shape = tuple(int(s) for s in self._numbers(table, "Shape")[: _MOST_RANK + 1])
        elements = math.prod(shape)
        if len(shape) > _MOST_RANK or min((*shape, 0)) < 0 or elements > _MOST_ELEMENTS:
            raise LoweringError(
                f"{where} has the shape {list(shape)}; sizes must be known and positive, with at "
                f"most {_MOST_RANK} dimensions and {_MOST_ELEMENTS:,} elements"
            )
        kind = _TYPE_NAMES.get(table.Type(), f"number {table.Type()}")
        scales: tuple[float, ...] = ()
        zero_points: tuple[int, ...] = ()
        axis = 0
        quantization = table.Quantization()
        if quantization is not None and quantization.ScaleLength() > 0:
            scales = tuple(float(s) for s in self._numbers(quantization, "Scale"))
            zero_points = tuple(int(z) for z in self._numbers(quantization, "ZeroPoint"))
            zero_points = zero_points or (0,) * len(scales)
            axis = int(quantization.QuantizedDimension())
            if len(zero_points) != len(scales):
                raise LoweringError(
                    f"{where} has {len(scales)} scales and {len(zero_points)} zero points"
                )
        return TfliteTensor(
            index,
            name,
            shape,
            kind,
            scales,
            zero_points,
            axis,
            self._constant(where, table, kind, shape),
            bool(table.IsVariable()),
        )

    def _constant(
        self, where: str, table: Any, kind: str, shape: tuple[int, ...]
    ) -> np.ndarray[Any, Any] | None:
        index = table.Buffer()
        if not 0 <= index < self._model.BuffersLength():
            raise LoweringError(
                f"{where} refers to buffer {index}; the file has {self._model.BuffersLength()}"
            )
        if kind not in TYPES:
            return None
        dtype = np.dtype(TYPES[kind]).newbyteorder("<")
        raw = self._raw(where, self._model.Buffers(index)) if index > 0 else b""
        if len(raw) == 0 and math.prod(shape) > 0:
            return None
        if len(raw) != math.prod(shape) * dtype.itemsize:
            raise LoweringError(f"{where} is {kind}{list(shape)}, but has {len(raw)} bytes")
        return np.frombuffer(raw, dtype).reshape(shape)

    def _raw(self, where: str, buffer: Any) -> Any:
        """Return the bytes of a buffer; large files store them after the flatbuffer."""
        if buffer.Offset() > 1:
            start, end = buffer.Offset(), buffer.Offset() + buffer.Size()
            if end > len(self._data):
                raise LoweringError(f"{where}: its bytes {start} to {end} are not in the file")
            return self._data[start:end]
        return buffer.DataAsNumpy() if buffer.DataLength() else b""

    def _operator(self, index: int, table: Any) -> TfliteOperator:
        if not 0 <= table.OpcodeIndex() < self._model.OperatorCodesLength():
            raise LoweringError(f"the .tflite file is damaged: op {index} has no operator code")
        code = self._model.OperatorCodes(table.OpcodeIndex())
        number = code.BuiltinCode()
        if code.DeprecatedBuiltinCode() < _PLACEHOLDER_FOR_GREATER_CODES:
            number = max(number, code.DeprecatedBuiltinCode())
        name = _OPERATOR_NAMES.get(number, f"number {number}")
        if name == "CUSTOM":
            name = f"CUSTOM {(code.CustomCode() or b'').decode('utf-8', 'replace')}"

        def options(kind: Any) -> Any:
            union = table.BuiltinOptions()
            expected = getattr(BuiltinOptions, kind.__name__)
            if union is None or table.BuiltinOptionsType() != expected:
                return None
            given = kind()
            given.Init(union.Bytes, union.Pos)
            return given

        return TfliteOperator(
            name, self._indices(table, "Inputs"), self._indices(table, "Outputs"), options
        )
