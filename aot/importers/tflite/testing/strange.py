# SPDX-License-Identifier: Apache-2.0
"""Files of other tools, with features of the schema beyond the cases of single builtins; and
refused files, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

from aot.importers.tflite.testing.build import RESOURCE, File, Quantized

Q: Quantized = (0.05, 3)
OTHER: Quantized = (0.03, -5)
SUM: Quantized = (0.06, 1)
PROBABILITY: Quantized = (1 / 256, -128)


def values(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).integers(-127, 128, shape)


def one(
    name: str,
    before: Sequence[int],
    after: Sequence[int],
    options: str = "",
    *ints: Any,
    result: Quantized = Q,
    dtype: Any = np.int8,
    of: Quantized = Q,
    **fields: Any,
) -> File:
    """Return an op of one value, with constants of integers."""
    file = File(dtype)
    x, y = file.input(before, of), file.tensor(after, quantized=of if result is Q else result)
    constants = [file.constant(np.asarray(i, np.int32)) for i in ints]
    file.op(name, [x, *constants], [y], options, 2, **fields)
    file.output(y)
    return file


def two(
    name: str, a: Sequence[int], b: Sequence[int], after: Sequence[int], options: str, **fields: Any
) -> File:
    """Return an op of two values."""
    file = File()
    y_of = (0.3, 1) if name == "BATCH_MATMUL" else SUM
    inputs = [file.input(a, Q), file.input(b, OTHER)]
    y = file.tensor(after, np.int8, y_of)
    file.op(name, inputs, [y], options, 2, **fields)
    file.output(y)
    return file


def dense(before: Sequence[int], units: int, after: Sequence[int], weights: str = "") -> File:
    file, depth = File(), before[-1]
    x, y = file.input(before, Q), file.tensor(after, np.int8, (0.3, -4))
    if weights == "computed":
        w = file.input((units, depth), (0.01, -7))
    else:
        of = (0.01, 5 if weights == "asymmetric" else 0)
        w = file.tensor((units, depth), np.int8, of, values(units, depth))
    file.op("FULLY_CONNECTED", [x, w, -1], [y], "FullyConnectedOptions", 4)
    file.output(y)
    return file


def conv(size: Sequence[int], kernel: Sequence[int], after: Sequence[int], **fields: Any) -> File:
    file = File()
    x, y = file.input(size, Q), file.tensor(after, np.int8, (0.3, -4))
    shape = (after[3], *kernel, size[3])
    w = file.tensor(shape, np.int8, (0.01, 0), values(*shape))
    file.op("CONV_2D", [x, w, -1], [y], "Conv2DOptions", 3, **fields)
    file.output(y)
    return file


def logistic() -> File:
    return one("LOGISTIC", (1, 4), (1, 4), result=PROBABILITY)


def changed(change: Callable[[File], object]) -> File:
    file = logistic()
    change(file)
    return file


def _only_the_deprecated_code(file: File) -> None:
    file.model.operatorCodes[0].builtinCode = 0


def _a_signature_of_unknown_size(file: File) -> None:
    for tensor in file.at.tensors:
        tensor.shapeSignature = [-1, 4]


def _a_buffer_for_each_tensor(file: File) -> None:
    for tensor in file.at.tensors:
        file.model.buffers.append(schema.BufferT())
        tensor.buffer = len(file.model.buffers) - 1


def _metadata(file: File) -> None:
    metadata, buffer = schema.MetadataT(), schema.BufferT()
    buffer.data = np.frombuffer(b"1.5.0\0\0\0", np.uint8)
    file.model.buffers.append(buffer)
    metadata.name, metadata.buffer = b"min_runtime_version", len(file.model.buffers) - 1
    file.model.metadata = [metadata]


def _no_names(file: File) -> None:
    for tensor in file.at.tensors:
        tensor.name = None


def _another_graph(file: File) -> None:
    main = file.at
    file.graph()
    x, y = file.input((2, 3), Q), file.tensor((2, 3), np.int8, Q)
    file.op("COS", [x], [y])
    file.at = main


def _an_input_that_is_an_output(file: File) -> None:
    file.output(0, 1)


def _an_input_that_nothing_reads(file: File) -> None:
    file.input((3,), Q)


def _an_op_that_nothing_reads(file: File) -> None:
    unused = file.tensor((1, 4), np.int8, PROBABILITY)
    file.op("LOGISTIC", [0], [unused])


def variables(body: str) -> File:
    """Return a file reading and assigning two variables without initial values."""
    file = File()
    x = file.input((1, 4), Q)
    handles, old = [], []
    for name in (b"a", b"b"):
        handles.append(file.tensor((), RESOURCE))
        file.op("VAR_HANDLE", [], handles[-1:], "VarHandleOptions", container=b"", sharedName=name)
    for handle in handles:
        old.append(file.tensor((1, 4), np.int8, Q))
        file.op("READ_VARIABLE", [handle], old[-1:], "ReadVariableOptions")
    total = file.tensor((1, 4), np.int8, Q)
    file.op("ADD", [old[0], x], [total], "AddOptions", 2)
    constant = file.tensor((1, 4), np.int8, Q, np.arange(4))
    assigned = {"swapped": old[0], "input": x, "constant": constant, "again": total}[body]
    for handle, value in zip(handles, (total, assigned), strict=True):
        file.op("ASSIGN_VARIABLE", [handle, value], [], "AssignVariableOptions")
    if body == "again":
        total = file.tensor((1, 4), np.int8, Q)
        file.op("READ_VARIABLE", [handles[1]], [total], "ReadVariableOptions")
    y = file.tensor((1, 4), np.int8, Q)
    file.op("ADD", [old[1], total], [y], "AddOptions", 2)
    file.output(y, old[0])
    return file


def constant_operand(shape: Sequence[int], name: str, first: bool) -> File:
    file = File()
    x, y = file.input((2, 3, 4), Q), file.tensor((2, 3, 4), np.int8, SUM)
    c = file.tensor(shape, np.int8, OTHER, values(*shape))
    options = f"{name.capitalize()}Options"
    file.op(name, [c, x] if first else [x, c], [y], options, 2, fusedActivationFunction=2)
    file.output(y)
    return file


def op_of_constants() -> File:
    file = File()
    x, y = file.input((2, 4), Q), file.tensor((2, 4), np.int8, SUM)
    c, row = file.tensor((4,), np.int8, Q, np.arange(4)), file.tensor((1, 4), np.int8, Q)
    file.op("RESHAPE", [c, file.ints([1, 4])], [row])
    file.op("ADD", [x, row], [y], "AddOptions", 2)
    file.output(y)
    return file


def scalars() -> File:
    """Return a vector split into scalars; two of them are joined."""
    file = File()
    x, parts = file.input((3,), Q), [file.tensor((), np.int8, Q) for _ in range(3)]
    y = file.tensor((2,), np.int8, Q)
    file.op("UNPACK", [x], parts, "UnpackOptions", 2, num=3, axis=0)
    file.op("PACK", parts[1:], [y], "PackOptions", 2, valuesCount=2, axis=0)
    file.output(y)
    return file


def squares(name: str, options: str) -> File:
    file = File()
    x, y = file.input((2, 4), Q), file.tensor((2, 4), np.int8, SUM)
    file.op(name, [x, x], [y], options, 2)
    file.output(y)
    return file


SLICE, REDUCE, POOL = "StridedSliceOptions", "ReducerOptions", "Pool2DOptions"
_BLOCKS = "SpaceToDepthOptions"
RESIZE = "ResizeNearestNeighborOptions"
WINDOW: dict[str, Any] = {"filterHeight": 9, "filterWidth": 9, "strideH": 2, "strideW": 2}
STEP = {"strideH": 4, "strideW": 4, "padding": 0}

FILES: dict[str, Callable[[], File]] = {
    "shape in the options": lambda: one(
        "RESHAPE", (2, 6), (3, 4), "ReshapeOptions", newShape=[3, 4]
    ),
    "shape with a size left out": lambda: one("RESHAPE", (2, 6), (3, 4), "", [3, -1]),
    "a scalar": lambda: one("RESHAPE", (1, 1), (), "", []),
    "rank 5, both repeated": lambda: two(
        "ADD", (2, 1, 3, 1, 4), (1, 5, 3, 2, 1), (2, 5, 3, 2, 4), "AddOptions"
    ),
    "rank 5, product": lambda: two(
        "MUL", (2, 1, 3, 1, 4), (1, 5, 3, 2, 1), (2, 5, 3, 2, 4), "MulOptions"
    ),
    "other ranks": lambda: two("ADD", (4,), (2, 3, 4), (2, 3, 4), "AddOptions"),
    "a value twice": lambda: squares("MUL", "MulOptions"),
    "a value minus itself": lambda: squares("SUB", "SubOptions"),
    "a constant scalar": lambda: constant_operand((), "ADD", True),
    "a constant minus a value": lambda: constant_operand((1, 4), "SUB", True),
    "a constant row": lambda: constant_operand((3, 1), "MUL", False),
    "an op of constants": op_of_constants,
    "mean over a scalar axis": lambda: one(
        "MEAN", (2, 3, 4, 5), (2, 3, 5), REDUCE, 2, keepDims=False
    ),
    "mean of all": lambda: one("MEAN", (2, 3, 4), (), REDUCE, [0, 1, 2], keepDims=False),
    "mean of rank 5": lambda: one(
        "MEAN", (2, 3, 4, 5, 2), (2, 3, 5, 2), REDUCE, [2], keepDims=False
    ),
    "an axis twice": lambda: one("MEAN", (2, 3, 4), (2, 3, 1), REDUCE, [2, -1], keepDims=True),
    "rows of rank 4": lambda: dense((1, 1, 1, 6), 4, (1, 4)),
    "an image as one row": lambda: one_row(),
    "a vector": lambda: dense((6,), 4, (4,)),
    "computed weights": lambda: dense((2, 6), 4, (2, 4), "computed"),
    "computed weights of a vector": lambda: dense((6,), 4, (1, 4), "computed"),
    "weights with a zero point": lambda: dense((2, 6), 4, (2, 4), "asymmetric"),
    "matrices of rank 5": lambda: two(
        "BATCH_MATMUL", (2, 1, 3, 4, 5), (1, 2, 3, 5, 2), (2, 2, 3, 4, 2), "BatchMatMulOptions"
    ),
    "matrices of rank 2": lambda: two("BATCH_MATMUL", (4, 5), (5, 2), (4, 2), "BatchMatMulOptions"),
    "matrices of two ranks": lambda: two(
        "BATCH_MATMUL", (3, 4, 5), (2, 3, 5, 2), (2, 3, 4, 2), "BatchMatMulOptions"
    ),
    "a kernel larger than the image": lambda: conv((1, 2, 3, 2), (5, 7), (1, 1, 1, 3), **STEP),
    "steps larger than the kernel": lambda: conv((3, 9, 9, 2), (2, 2), (3, 3, 3, 3), **STEP),
    "a window larger than the image": lambda: one(
        "AVERAGE_POOL_2D", (1, 3, 3, 3), (1, 2, 2, 3), POOL, padding=0, **WINDOW
    ),
    "transpose of rank 5": lambda: one(
        "TRANSPOSE", (2, 3, 1, 4, 2), (4, 2, 2, 1, 3), "TransposeOptions", [3, 0, 4, 2, 1]
    ),
    "pad of rank 5": lambda: one(
        "PAD",
        (1, 2, 1, 2, 2),
        (2, 2, 1, 3, 4),
        "PadOptions",
        [[1, 0], [0, 0], [0, 0], [0, 1], [1, 1]],
    ),
    "slice backwards": lambda: one(
        "STRIDED_SLICE", (4, 5, 6), (3, 2, 3), SLICE, [-1, -3, 0], [-4, -1, 100], [-1, 1, 2]
    ),
    "slice with a dimension less": lambda: one(
        "STRIDED_SLICE", (4, 5), (5,), SLICE, [-1, 0], [0, 5], [1, 1], shrinkAxisMask=1, endMask=3
    ),
    "gather of one": lambda: one("GATHER", (2, 3, 4), (2, 4), "GatherOptions", 1, axis=-2),
    "scalars": scalars,
    "nearest pixels between corners": lambda: one(
        "RESIZE_NEAREST_NEIGHBOR",
        (1, 3, 5, 2),
        (1, 7, 4, 2),
        RESIZE,
        [7, 4],
        halfPixelCenters=True,
        alignCorners=True,
    ),
    "int16, no slope": lambda: one(
        "LEAKY_RELU", (2, 9), (2, 9), "LeakyReluOptions", dtype=np.int16, of=(0.001, 0), alpha=0.0
    ),
    "a negative slope": lambda: one("LEAKY_RELU", (2, 9), (2, 9), "LeakyReluOptions", alpha=-0.3),
    "no ops": lambda: no_ops(),
    "variables of each other": lambda: variables("swapped"),
    "a variable of the input": lambda: variables("input"),
    "a variable of a constant": lambda: variables("constant"),
    "a function of numbers far from 0": lambda: one(
        "LOGISTIC", (2, 128), (2, 128), of=(14.3, -1), result=PROBABILITY
    ),
    "a scalar of int16": lambda: one("RELU6", (), (), dtype=np.int16, of=(0.001, 0)),
    "a variable read again": lambda: variables("again"),
    **{
        change.__name__.strip("_").replace("_", " "): lambda change=change: changed(change)  # type: ignore[misc]
        for change in (
            _only_the_deprecated_code,
            _a_signature_of_unknown_size,
            _a_buffer_for_each_tensor,
            _metadata,
            _no_names,
            _another_graph,
            _an_input_that_is_an_output,
            _an_input_that_nothing_reads,
            _an_op_that_nothing_reads,
        )
    },
}
"""Each has TFLite Micro's bits."""


def one_row() -> File:
    file = dense((1, 2, 3, 12), 4, (1, 4))
    file.at.tensors[0].shape = [1, 2, 3, 2]
    return file


def no_ops() -> File:
    file = File()
    file.output(file.input((2, 3), Q))
    return file


def _unsigned(file: File) -> None:
    for tensor in file.at.tensors:
        tensor.type = schema.TensorType.UINT8


def _a_constant_as_output(file: File) -> None:
    file.output(file.tensor((3,), np.int8, Q, np.arange(3)))


def tanh_as_activation() -> File:
    return conv((1, 3, 3, 2), (1, 1), (1, 3, 3, 3), **STEP | {"fusedActivationFunction": 4})


REFUSED: dict[str, tuple[Callable[[], File], str]] = {
    "uint8": (lambda: changed(_unsigned), "op 0 LOGISTIC: calculates with uint8 values; only "),
    "a constant as output": (
        lambda: changed(_a_constant_as_output),
        "output tensor 2 `t2` of the .tflite file is a constant",
    ),
    "another activation": (
        tanh_as_activation,
        "op 0 CONV_2D: fused activation TANH is not supported; choices: NONE, RELU, RELU6, "
        "RELU_N1_TO_1",
    ),
    "no axes": (
        lambda: one("MEAN", (2, 3), (2, 3), REDUCE, []),
        "op 0 MEAN: reduces no dimension",
    ),
    "HARD_SWISH of int16": (
        lambda: one("HARD_SWISH", (2, 3), (2, 3), "", dtype=np.int16, of=(0.001, 0)),
        "op 0 HARD_SWISH: int16 is not supported here; int8 is",
    ),
    "PRELU of int16": (
        lambda: prelu_of_int16(),
        "op 0 PRELU: int16 is not supported here; int8 is",
    ),
    "int16 with a zero point": (
        lambda: one("RELU", (2, 3), (2, 3), dtype=np.int16, of=(0.001, 5)),
        "input_0 of the .tflite file: tensor 0 `t0` has zero_point 5",
    ),
    "a TANH of another scale": (
        lambda: one("TANH", (2, 3), (2, 3), result=(0.01, 0)),
        "op 0 TANH: a result of Quantization(scale=0.00999",
    ),
    "no elements": (
        lambda: one("RELU", (2, 0), (2, 0)),
        "input_0 of the .tflite file: tensor 0 `t0` has no elements",
    ),
    "computed weights with a bias": (
        lambda: biased_product(),
        "op 0 FULLY_CONNECTED: computed weights, and weights with a zero point, support no bias",
    ),
    "blocks that do not fit": (
        lambda: one(
            "SPACE_TO_DEPTH", (1, 3, 4, 1), (1, 1, 2, 4), "SpaceToDepthOptions", blockSize=2
        ),
        "op 0 SPACE_TO_DEPTH: blocks of 2 do not divide the image of [3, 4]",
    ),
}


def prelu_of_int16() -> File:
    file = File(np.int16)
    x, y = file.input((1, 4), (0.001, 0)), file.tensor((1, 4), quantized=(0.001, 0))
    alpha = file.tensor((4,), np.int16, (0.01, 0), values(4))
    file.op("PRELU", [x, alpha], [y])
    file.output(y)
    return file


def biased_product() -> File:
    file = dense((2, 6), 4, (2, 4), "computed")
    bias = file.tensor((4,), np.int32, (0.0005, 0), values(4))
    file.at.operators[0].inputs[2] = bias
    return file
