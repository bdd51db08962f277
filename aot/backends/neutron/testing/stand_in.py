# SPDX-License-Identifier: Apache-2.0
"""A stand-in for NXP's converter: a file in the converter's form, with a program not for an NPU.

Its weights are the sent file. Its kernels are the CRC-32 of the file; the stand-in driver
(tests/neutron) uses it to find the computation.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection
from typing import TYPE_CHECKING

import flatbuffers
import numpy as np
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

from npu.neutron.payload import MAGIC

if TYPE_CHECKING:  # the stand-in of the SDK needs no torch
    from aot.backends.npus import Neutron

SCRATCH_BYTES = 1000
PROFILE_BYTES = 40
DEBUG_BYTES = 24
_MICROCODE_WORDS = 18
_BUILTINS = {v: k for k, v in vars(schema.BuiltinOperator).items() if isinstance(v, int)}


def stand_in(tflite: bytes, part: Neutron) -> bytes:
    """Replace `convert` of aot/backends/neutron/converter.py."""
    return converted(tflite, part.fetches_weights)


def microcode(inputs: int, outputs: int, weights: int, version: int = 0, fetched: int = 0) -> bytes:
    """Return the words of a program with a payload's necessary fields."""
    words = [0x11111111 * (i % 15 + 1) for i in range(_MICROCODE_WORDS)]
    words[0], words[6], words[7], words[9] = MAGIC, 4 * _MICROCODE_WORDS, weights, SCRATCH_BYTES
    if version == 0:
        words[10:13] = fetched, inputs, outputs
    else:
        profile = PROFILE_BYTES | 1 << 31  # the highest bit is no size
        words[10:15] = profile, DEBUG_BYTES, fetched, inputs, outputs
    return struct.pack(f"<{_MICROCODE_WORDS}I", *words)


def converted(
    tflite: bytes,
    fetches: bool = False,
    version: int = 0,
    leaves: Collection[str] = (),
) -> bytes:
    """Return the stand-in's result for a file. The program has inputs and outputs in reverse order.

    Args:
      tflite: the sent file.
      fetches: True if the program needs memory for its weights.
      version: of the program's memories.
      leaves: builtins left to the core, such as "SOFTMAX".
    """
    model = schema.ModelT.InitFromPackedBuf(tflite, 0)
    (graph,) = model.subgraphs
    left = [op for op in graph.operators if _builtin(model, op) in leaves]
    inputs, outputs = list(graph.inputs)[::-1], list(graph.outputs)[::-1]
    weights = bytes(tflite)
    blobs = (
        microcode(len(inputs), len(outputs), len(weights), version, fetches * len(weights)),
        weights,
        struct.pack("<I", zlib.crc32(weights)),
    )
    names = ("microcode", "weights", "kernels")
    inputs += [_tensor(model, name, data) for name, data in zip(names, blobs, strict=True)]
    memories = ("scratch",) if version == 0 else ("scratch", "profile", "debug")
    outputs += [_tensor(model, name) for name in memories]
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
    code.customCode, code.version = b"NeutronGraph", 1
    model.operatorCodes.append(code)
    operator = schema.OperatorT()
    operator.opcodeIndex = len(model.operatorCodes) - 1
    operator.inputs, operator.outputs = inputs, outputs
    graph.operators = [*left, operator]
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _builtin(model: schema.ModelT, operator: schema.OperatorT) -> str:
    code = model.operatorCodes[operator.opcodeIndex]
    return str(_BUILTINS[max(code.builtinCode, code.deprecatedBuiltinCode)])


def _tensor(model: schema.ModelT, name: str, data: bytes = b"") -> int:
    tensor = schema.TensorT()
    tensor.name, tensor.type = name.encode(), schema.TensorType.UINT8
    tensor.shape, tensor.buffer = [len(data)], 0
    if data:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(data, np.uint8)
        model.buffers.append(buffer)
        tensor.buffer = len(model.buffers) - 1
    (graph,) = model.subgraphs
    graph.tensors.append(tensor)
    return len(graph.tensors) - 1
