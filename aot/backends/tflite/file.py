# SPDX-License-Identifier: Apache-2.0
"""Writer of .tflite files: tensors, operators and graphs, in the given order."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
from ethosu.vela.tflite.BuiltinOperator import BuiltinOperator
from ethosu.vela.tflite.BuiltinOptions import BuiltinOptions
from ethosu.vela.tflite.TensorType import TensorType

Array = np.ndarray[Any, Any]

_IDENTIFIER = b"TFL3"
_VERSION = 3
_PLACEHOLDER_FOR_GREATER_CODES = 127
_DATA_ALIGNMENT = 16  # of constants: TFLite's schema forces it

TYPES = {
    "int8": TensorType.INT8,
    "int16": TensorType.INT16,
    "int32": TensorType.INT32,
    "int64": TensorType.INT64,
    "float32": TensorType.FLOAT32,
    "bool": TensorType.BOOL,
    "resource": TensorType.RESOURCE,
}

# First version of a builtin with int8 values, if it is not version 1.
_VERSIONS = {
    "ADD": 2,
    "ARG_MAX": 2,
    "AVERAGE_POOL_2D": 2,
    "BATCH_MATMUL": 2,
    "CONCATENATION": 2,
    "CONV_2D": 3,
    "DEPTHWISE_CONV_2D": 3,
    "DEQUANTIZE": 2,
    "FULLY_CONNECTED": 4,
    "GATHER": 2,
    "LEAKY_RELU": 2,
    "LOGISTIC": 2,
    "MAXIMUM": 2,
    "MAX_POOL_2D": 2,
    "MEAN": 2,
    "MINIMUM": 2,
    "MUL": 2,
    "PAD": 2,
    "PADV2": 2,
    "QUANTIZE": 2,
    "REDUCE_MAX": 2,
    "REDUCE_MIN": 2,
    "RELU": 2,
    "RELU6": 2,
    "RESIZE_BILINEAR": 3,
    "SOFTMAX": 2,
    "STRIDED_SLICE": 2,
    "SUB": 2,
    "SUM": 2,
    "TANH": 2,
    "TRANSPOSE": 2,
    "TRANSPOSE_CONV": 3,
}
PER_CHANNEL_FULLY_CONNECTED = 12


@dataclass
class _Graph:
    tensors: list[int] = field(default_factory=list)
    operators: list[int] = field(default_factory=list)
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()


class TfliteFile:
    """A file in the making. Tensors are numbered in their graph, from 0."""

    def __init__(self) -> None:
        self._builder = flatbuffers.Builder(1 << 16)
        self._buffers = [self._table("Buffer", {})]
        self._codes: dict[tuple[str, int], int] = {}
        self._graphs = [_Graph()]

    def _table(self, name: str, fields: Mapping[str, Any]) -> int:
        """Write a table of the schema; 0 and False are left out as defaults."""
        kind: Any = importlib.import_module(f"ethosu.vela.tflite.{name}")
        kind.Start(self._builder)
        for key, value in fields.items():
            getattr(kind, f"Add{key}")(self._builder, value)
        return int(kind.End(self._builder))

    def _numbers(self, values: Sequence[Any], dtype: Any) -> int:
        return int(self._builder.CreateNumpyVector(np.asarray(values, dtype)))

    def _offsets(self, offsets: Sequence[int]) -> int:
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return int(self._builder.EndVector())

    def _buffer(self, data: Array) -> int:
        raw = np.ascontiguousarray(data).tobytes()
        self._builder.StartVector(1, len(raw), _DATA_ALIGNMENT)
        self._builder.head = self._builder.head - len(raw)
        self._builder.Bytes[self._builder.head : self._builder.head + len(raw)] = raw
        self._buffers.append(self._table("Buffer", {"Data": self._builder.EndVector()}))
        return len(self._buffers) - 1

    def graph(self) -> int:
        """Start another graph for the following calls. Return its index."""
        self._graphs.append(_Graph())
        return len(self._graphs) - 1

    def tensor(
        self,
        name: str,
        shape: Sequence[int],
        kind: str,
        scales: Sequence[float] = (),
        zero_point: int = 0,
        axis: int = 0,
        data: Array | None = None,
        variable: bool = False,
    ) -> int:
        """Add a value, or with data a constant.

        Args:
          name: for people.
          shape: its shape.
          kind: one of TYPES.
          scales: one, or one for each index of `axis`; none if it is not quantized.
          zero_point: of all scales.
          axis: of the scales.
          data: of a constant.
          variable: True if it persists between runs.
        """
        fields: dict[str, Any] = {
            "Shape": self._numbers(shape, np.int32),
            "Type": TYPES[kind],
            "Buffer": 0 if data is None else self._buffer(data),
            "Name": self._builder.CreateString(name),
            "IsVariable": variable,
        }
        if len(scales) > 0:
            quantization = {
                "Scale": self._numbers(scales, np.float32),
                "ZeroPoint": self._numbers([zero_point] * len(scales), np.int64),
                "QuantizedDimension": axis,
            }
            fields["Quantization"] = self._table("QuantizationParameters", quantization)
        graph = self._graphs[-1]
        graph.tensors.append(self._table("Tensor", fields))
        return len(graph.tensors) - 1

    def op(
        self,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: str = "",
        version: int = 0,
        **fields: Any,
    ) -> None:
        """Add a call of a builtin.

        Args:
          name: of the builtin in the schema.
          inputs: tensors.
          outputs: likewise.
          options: the class of its options in the schema.
          version: of the builtin; 0 is the first with int8 values.
          **fields: of options; texts as the schema's strings.
        """
        code = self._codes.setdefault((name, version or _VERSIONS.get(name, 1)), len(self._codes))
        values: dict[str, Any] = {
            "OpcodeIndex": code,
            "Inputs": self._numbers(inputs, np.int32),
            "Outputs": self._numbers(outputs, np.int32),
        }
        if options:
            texts = {
                key: self._builder.CreateString(value) if isinstance(value, str) else value
                for key, value in fields.items()
            }
            values["BuiltinOptionsType"] = getattr(BuiltinOptions, options)
            values["BuiltinOptions"] = self._table(options, texts)
        self._graphs[-1].operators.append(self._table("Operator", values))

    def border(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Set the inputs and outputs of the current graph."""
        self._graphs[-1].inputs, self._graphs[-1].outputs = inputs, outputs

    def bytes(self) -> bytes:
        """Return the file; nothing can be added after it."""
        codes = []
        for name, version in self._codes:
            number = getattr(BuiltinOperator, name)
            fields = {
                "DeprecatedBuiltinCode": min(number, _PLACEHOLDER_FOR_GREATER_CODES),
                "BuiltinCode": number,
                "Version": version,
            }
            codes.append(self._table("OperatorCode", fields))
        graphs = [
            {
                "Tensors": self._offsets(graph.tensors),
                "Inputs": self._numbers(graph.inputs, np.int32),
                "Outputs": self._numbers(graph.outputs, np.int32),
                "Operators": self._offsets(graph.operators),
            }
            for graph in self._graphs
        ]
        model = {
            "OperatorCodes": self._offsets(codes),
            "Subgraphs": self._offsets([self._table("SubGraph", graph) for graph in graphs]),
            "Description": self._builder.CreateString("Pilotlight"),
            "Buffers": self._offsets(self._buffers),
        }
        root = self._table("Model", {"Version": _VERSION, **model})
        self._builder.Finish(root, _IDENTIFIER)
        return bytes(self._builder.Output())
