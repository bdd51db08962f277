# SPDX-License-Identifier: Apache-2.0
"""Builder of .tflite files, with the schema in TFLite Micro's own package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flatbuffers
import numpy as np
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

Quantized = tuple[float, int]
Array = np.ndarray[Any, Any]

_TYPES = {
    np.dtype(np.uint8): schema.TensorType.UINT8,
    np.dtype(np.int8): schema.TensorType.INT8,
    np.dtype(np.int16): schema.TensorType.INT16,
    np.dtype(np.int32): schema.TensorType.INT32,
    np.dtype(np.int64): schema.TensorType.INT64,
    np.dtype(np.float32): schema.TensorType.FLOAT32,
    np.dtype(np.bool_): schema.TensorType.BOOL,
}
RESOURCE = "resource"


class File:
    """A .tflite file under construction; its first graph is the main one.

    Tensors are given by their indices in the graph.

    Attributes:
      dtype: of values without a dtype of their own.
    """

    def __init__(self, dtype: Any = np.int8) -> None:
        self.dtype = dtype
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.description = b"test"
        self.model.buffers = [schema.BufferT()]
        self.model.operatorCodes = []
        self.model.subgraphs = []
        self.graph()

    def graph(self) -> int:
        """Start another graph for the following calls."""
        self.at = schema.SubGraphT()
        self.at.tensors, self.at.operators = [], []
        self.at.inputs, self.at.outputs = [], []
        self.at.name = b"graph"
        self.model.subgraphs.append(self.at)
        return len(self.model.subgraphs) - 1

    def tensor(
        self,
        shape: Sequence[int],
        dtype: Any = None,
        quantized: Quantized | None = None,
        data: Array | None = None,
        scales: Sequence[float] | None = None,
        axis: int = 0,
        variable: bool = False,
    ) -> int:
        """Return a value, or a constant with data; scales are a weight's by channel."""
        dtype = self.dtype if dtype is None else dtype
        tensor = schema.TensorT()
        tensor.shape = [int(s) for s in shape]
        tensor.type = schema.TensorType.RESOURCE if dtype == RESOURCE else _TYPES[np.dtype(dtype)]
        tensor.name = f"t{len(self.at.tensors)}".encode()
        tensor.isVariable = variable
        tensor.buffer = 0
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data, dtype).tobytes(), np.uint8)
            self.model.buffers.append(buffer)
            tensor.buffer = len(self.model.buffers) - 1
        if quantized is not None or scales is not None:
            of = schema.QuantizationParametersT()
            of.scale = [quantized[0]] if quantized is not None else [float(s) for s in scales or ()]
            of.zeroPoint = [quantized[1]] if quantized is not None else [0] * len(of.scale)
            of.quantizedDimension = axis
            tensor.quantization = of
        self.at.tensors.append(tensor)
        return len(self.at.tensors) - 1

    def input(self, shape: Sequence[int], quantized: Quantized | None, dtype: Any = None) -> int:
        index = self.tensor(shape, dtype, quantized)
        self.at.inputs.append(index)
        return index

    def constant(self, data: Array, quantized: Quantized | None = None) -> int:
        return self.tensor(data.shape, data.dtype, quantized, data)

    def ints(self, values: Sequence[Any] | Array) -> int:
        return self.constant(np.asarray(values, np.int32))

    def op(
        self,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: str = "",
        version: int = 1,
        **fields: Any,
    ) -> None:
        """Add a call of a builtin; options is a class of the schema, with the given fields."""
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, name)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = version
        self.model.operatorCodes.append(code)
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self.model.operatorCodes) - 1
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        if options:
            operator.builtinOptions = getattr(schema, f"{options}T")()
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            for field, value in fields.items():
                assert hasattr(operator.builtinOptions, field), field
                setattr(operator.builtinOptions, field, value)
        self.at.operators.append(operator)

    def output(self, *indices: int) -> None:
        self.at.outputs.extend(indices)

    def bytes(self) -> bytes:
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())
