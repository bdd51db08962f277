# SPDX-License-Identifier: Apache-2.0
"""Data movement without computation: RESHAPE, SQUEEZE, EXPAND_DIMS, TRANSPOSE, CONCATENATION, PACK,
UNPACK.
"""

from __future__ import annotations

import math

from ethosu.vela.tflite.ConcatenationOptions import ConcatenationOptions
from ethosu.vela.tflite.PackOptions import PackOptions
from ethosu.vela.tflite.UnpackOptions import UnpackOptions
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.importers.tflite.call import OperatorCall, Unsupported
from aot.importers.tflite.clamps import clamped
from kernels.cat.op import cat
from kernels.strided_copy.op_slice import slice as pl_slice
from kernels.strided_copy.op_transpose import transpose as pl_transpose


def reshape(call: OperatorCall) -> Node:
    """Import RESHAPE, SQUEEZE or EXPAND_DIMS: the result itself has the shape."""
    x, shape = call.value(0), call.output.shape
    if math.prod(shape) != math.prod(shape_of(x)):
        raise Unsupported(f"{list(shape_of(x))} cannot take the shape {list(shape)}")
    call.same_quantization(x)
    return call.reshaped(x, shape)


def transpose(call: OperatorCall) -> Node:
    x, perm = call.value(0), call.integers(1)
    if sorted(perm) != list(range(len(shape_of(x)))):
        raise Unsupported(f"the permutation {perm} does not fit {len(shape_of(x))} dimensions")
    call.same_quantization(x)
    return call.emit(pl_transpose, x, perm, edge=call.edge)


def concatenation(call: OperatorCall) -> Node:
    options = call.options(ConcatenationOptions)
    inputs = [call.value(i) for i in range(call.count)]
    if not inputs:
        raise Unsupported("it has no inputs")
    call.same_quantization(*inputs)
    dim = call.axis(options.Axis(), len(shape_of(inputs[0])))
    for x in inputs:
        before, other = list(shape_of(inputs[0])), list(shape_of(x))
        if before[:dim] != other[:dim] or before[dim + 1 :] != other[dim + 1 :]:
            raise Unsupported(f"{before} and {other} cannot be joined along dimension {dim}")
    joined = call.emit(cat, inputs, dim, edge=call.edge)
    activation = call.activation(options)
    return joined if activation == "NONE" else clamped(call, joined, activation)


def pack(call: OperatorCall) -> Node:
    inputs = [call.value(i) for i in range(call.count)]
    if not inputs or len({shape_of(x) for x in inputs}) != 1:
        raise Unsupported("its inputs must have one shape")
    call.same_quantization(*inputs)
    shape = list(shape_of(inputs[0]))
    dim = call.axis(call.options(PackOptions).Axis(), len(shape) + 1)
    shape.insert(dim, 1)
    return call.emit(cat, [call.reshaped(x, shape) for x in inputs], dim, edge=call.edge)


def unpack(call: OperatorCall) -> list[Node]:
    x = call.value(0)
    shape = list(shape_of(x))
    dim = call.axis(call.options(UnpackOptions).Axis(), len(shape))
    if len(call.outputs) != shape[dim]:
        raise Unsupported(f"it has {len(call.outputs)} results for {shape[dim]} slices")
    without = shape[:dim] + shape[dim + 1 :]
    edge = x.meta["edge"]
    slices = [call.emit(pl_slice, x, dim, i, i + 1, 1, edge=edge) for i in range(len(call.outputs))]
    return [call.reshaped(piece, without) for piece in slices]
