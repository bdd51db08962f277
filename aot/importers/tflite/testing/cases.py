# SPDX-License-Identifier: Apache-2.0
"""Calls of each builtin with random shapes, scales and options, as files of one op."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from aot.importers.tflite.testing.blocks import (
    batch_to_space,
    depth_to_space,
    space_to_batch,
    space_to_depth,
)
from aot.importers.tflite.testing.build import File, Quantized
from aot.importers.tflite.testing.layers import (
    batch_matmul,
    conv_2d,
    depthwise_conv_2d,
    fully_connected,
    lstm,
    svdf,
    transpose_conv,
)
from aot.importers.tflite.testing.movement import (
    broadcast_to,
    concatenation,
    expand_dims,
    gather,
    mirror_pad,
    pack,
    pad,
    reshape,
    resize,
    slice_,
    split,
    split_v,
    squeeze,
    strided_slice,
    transpose,
    unpack,
)
from aot.importers.tflite.testing.random_values import (
    ACTIVATIONS,
    SAME,
    VALID,
    Case,
    Random,
    extent,
    integers,
    quantized,
    scale,
    some,
)


def binary(name: str, options: str, dtype: Any) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file = File()
        shape = tuple(map(int, random.integers(1, 7, 4)))
        other = some(random, (shape, shape, (1, 1, 1, shape[3]), (1,)))
        of_a, of_b = quantized(random, dtype), quantized(random, dtype)
        a = file.input(shape, of_a, dtype)
        if random.integers(3) == 0:
            b = file.tensor(other, dtype, of_b, integers(random, other))
        else:
            b = file.input(other, of_b, dtype)
        inputs = [a, b] if random.integers(2) else [b, a]
        if name == "MUL":
            out = of_a[0] * of_b[0] * (40.0 if dtype == np.int8 else 20000.0)
        else:
            out = max(of_a[0], of_b[0])
        out *= float(random.uniform(0.7, 2.0))
        y = file.tensor(shape, dtype, (float(np.float32(out)), quantized(random, dtype)[1]))
        activation = some(random, ACTIVATIONS)
        file.op(name, inputs, [y], options, 2, fusedActivationFunction=activation)
        file.output(y)
        return file

    return case


def extreme(name: str, dtype: Any = np.int8) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file, q = File(dtype), quantized(random, dtype)
        shape = tuple(map(int, random.integers(1, 7, 4)))
        inputs = [file.input(shape, q), file.input(some(random, (shape, (1, shape[3]))), q)]
        y = file.tensor(shape, quantized=q)
        file.op(name, inputs, [y], "MaximumMinimumOptions", 2)
        file.output(y)
        return file

    return case


def pool(name: str, dtype: Any = np.int8) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file, q = File(), quantized(random, dtype)
        h, w, c = map(int, random.integers(4, 10, 3))
        kh, kw, sh, sw = map(int, random.integers(1, 4, 4))
        padding = some(random, (SAME, VALID))
        x = file.input((1, h, w, c), q, dtype)
        size = extent(h, kh, sh, 1, padding), extent(w, kw, sw, 1, padding)
        y = file.tensor((1, *size, c), dtype, q)
        fields = {"filterHeight": kh, "filterWidth": kw, "strideH": sh, "strideW": sw}
        fields |= {"padding": padding, "fusedActivationFunction": some(random, ACTIVATIONS)}
        file.op(name, [x], [y], "Pool2DOptions", 2, **fields)
        file.output(y)
        return file

    return case


def reduction(name: str, same: bool, dtype: Any = np.int8) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file, q = File(), quantized(random, dtype)
        shape = tuple(map(int, random.integers(1, 9, 4)))
        axes = some(random, ([1, 2], [2, 1], [3], [1], [-1], [1, 2, 3]))
        keeps = bool(random.integers(2))
        x = file.input(shape, q, dtype)
        dims = {a % 4 for a in axes}
        result = [1 if d in dims else s for d, s in enumerate(shape) if keeps or d not in dims]
        out = q if same else (float(np.float32(q[0] * random.uniform(0.3, 2.0))), q[1])
        if name == "SUM":
            out = float(np.float32(out[0] * 4)), out[1]
        y = file.tensor(result, dtype, out)
        file.op(name, [x, file.ints(axes)], [y], "ReducerOptions", 2, keepDims=keeps)
        file.output(y)
        return file

    return case


def arg_max(random: Random, dtype: Any = np.int8) -> File:
    file = File(dtype)
    shape = tuple(map(int, random.integers(2, 7, 3)))
    axis = int(random.integers(-1, 3))
    x = file.input(shape, quantized(random, dtype))
    y = file.tensor([s for d, s in enumerate(shape) if d != axis % 3], np.int32)
    file.op("ARG_MAX", [x, file.ints([axis])], [y], "ArgMaxOptions", 2, outputType=2)
    file.output(y)
    return file


def softmax(random: Random, dtype: Any = np.int8) -> File:
    file = File(dtype)
    shape = tuple(map(int, random.integers(1, 20, 2)))
    if dtype == np.int16:
        of, out = (scale(random, 1e-4, 1e-3), 0), (1 / 32768, 0)
    else:
        of, out = (scale(random, 0.01, 0.5), int(random.integers(-128, 128))), (1 / 256, -128)
    x = file.input(shape, of)
    y = file.tensor(shape, quantized=out)
    file.op("SOFTMAX", [x], [y], "SoftmaxOptions", 2, beta=some(random, (1.0, 1.0, 0.5)))
    file.output(y)
    return file


def log_softmax(random: Random, dtype: Any = np.int8) -> File:
    file = File(dtype)
    shape = tuple(map(int, random.integers(1, 20, 2)))
    x = file.input(shape, (scale(random, 0.01, 0.5), int(random.integers(-128, 128))))
    y = file.tensor(shape, quantized=(1 / 16, 127))
    file.op("LOG_SOFTMAX", [x], [y], "LogSoftmaxOptions", 2)
    file.output(y)
    return file


def function(
    name: str,
    options: str,
    out: Quantized | str,
    dtype: Any = np.int8,
    **fields: Callable[[Random], Any],
) -> Callable[[Random], File]:
    """Return a case with enough values for all 256 of int8."""

    def case(random: Random) -> File:
        file = File(dtype)
        wide = dtype == np.int16
        q = (
            (scale(random, 1e-4, 1e-3), 0)
            if wide
            else (scale(random, 0.002, 0.5), int(random.integers(-128, 128)))
        )
        x = file.input((16, 64), q)
        if out == "same":
            of = q
        elif out == "near":
            zero_point = 0 if wide else int(random.integers(-128, 128))
            of = (float(np.float32(q[0] * random.uniform(0.5, 4))), zero_point)
        else:
            assert isinstance(out, tuple)
            of = out
        y = file.tensor((16, 64), quantized=of)
        file.op(name, [x], [y], options, 2, **{k: v(random) for k, v in fields.items()})
        file.output(y)
        return file

    return case


def prelu(random: Random) -> File:
    file, q, slope = File(), quantized(random), quantized(random)
    shape = tuple(map(int, random.integers(2, 7, 4)))
    x = file.input(shape, q)
    alpha = file.tensor((1, 1, shape[3]), np.int8, slope, integers(random, (1, 1, shape[3])))
    y = file.tensor(shape, np.int8, (float(np.float32(q[0] * random.uniform(0.7, 2))), q[1]))
    file.op("PRELU", [x, alpha], [y])
    file.output(y)
    return file


def quantize(before: Any, after: Any) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file, q = File(), quantized(random, before)
        x = file.input((4, 64), q, before)
        ratio = {(np.int8, np.int16): 1 / 256, (np.int16, np.int8): 256.0}.get((before, after), 1.0)
        out = float(np.float32(q[0] * ratio * random.uniform(0.5, 2.0)))
        y = file.tensor((4, 64), after, (out, quantized(random, after)[1]))
        file.op("QUANTIZE", [x], [y], "QuantizeOptions", 2)
        file.output(y)
        return file

    return case


def dequantize(random: Random, dtype: Any = np.int8) -> File:
    file = File(dtype)
    x = file.input((4, 64), quantized(random, dtype))
    y = file.tensor((4, 64), np.float32)
    file.op("DEQUANTIZE", [x], [y], "DequantizeOptions", 2)
    file.output(y)
    return file


INT8: dict[str, Case] = {
    "ADD": binary("ADD", "AddOptions", np.int8),
    "ARG_MAX": arg_max,
    "AVERAGE_POOL_2D": pool("AVERAGE_POOL_2D"),
    "BATCH_MATMUL": batch_matmul,
    "BATCH_TO_SPACE_ND": batch_to_space,
    "BROADCAST_TO": broadcast_to,
    "CONCATENATION": concatenation,
    "CONV_2D": conv_2d,
    "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "DEPTH_TO_SPACE": depth_to_space,
    "DEQUANTIZE": dequantize,
    "EXPAND_DIMS": expand_dims,
    "FULLY_CONNECTED": fully_connected,
    "GATHER": gather,
    "HARD_SWISH": function("HARD_SWISH", "HardSwishOptions", "near"),
    "LEAKY_RELU": function(
        "LEAKY_RELU", "LeakyReluOptions", "near", alpha=lambda r: float(r.uniform(0.01, 1.0))
    ),
    "LOGISTIC": function("LOGISTIC", "", (1 / 256, -128)),
    "LOG_SOFTMAX": log_softmax,
    "MAXIMUM": extreme("MAXIMUM"),
    "MAX_POOL_2D": pool("MAX_POOL_2D"),
    "MEAN": reduction("MEAN", same=False),
    "MINIMUM": extreme("MINIMUM"),
    "MIRROR_PAD": mirror_pad,
    "MUL": binary("MUL", "MulOptions", np.int8),
    "PACK": pack,
    "PAD": pad("PAD", "PadOptions"),
    "PADV2": pad("PADV2", "PadV2Options"),
    "PRELU": prelu,
    "QUANTIZE": quantize(np.int8, np.int8),
    "REDUCE_MAX": reduction("REDUCE_MAX", same=True),
    "REDUCE_MIN": reduction("REDUCE_MIN", same=True),
    "RELU": function("RELU", "", "near"),
    "RELU6": function("RELU6", "", "same"),
    "RESHAPE": reshape,
    "RESIZE_BILINEAR": resize("RESIZE_BILINEAR", "ResizeBilinearOptions"),
    "RESIZE_NEAREST_NEIGHBOR": resize("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"),
    "SLICE": slice_,
    "SOFTMAX": softmax,
    "SPACE_TO_BATCH_ND": space_to_batch,
    "SPACE_TO_DEPTH": space_to_depth,
    "SPLIT": split,
    "SPLIT_V": split_v,
    "SQUEEZE": squeeze,
    "STRIDED_SLICE": strided_slice,
    "SUB": binary("SUB", "SubOptions", np.int8),
    "SUM": reduction("SUM", same=False),
    "SVDF": svdf,
    "TANH": function("TANH", "", (1 / 128, 0)),
    "TRANSPOSE": transpose,
    "TRANSPOSE_CONV": transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm,
    "UNPACK": unpack,
}
"""A maker of random calls of each builtin, of int8 values."""


def of_int16(case: Callable[..., File]) -> Case:
    return partial(case, dtype=np.int16)


INT16: dict[str, Case] = {
    "ADD": binary("ADD", "AddOptions", np.int16),
    "AVERAGE_POOL_2D": pool("AVERAGE_POOL_2D", np.int16),
    "BATCH_MATMUL": of_int16(batch_matmul),
    "BROADCAST_TO": of_int16(broadcast_to),
    "CONCATENATION": of_int16(concatenation),
    "CONV_2D": of_int16(conv_2d),
    "DEPTHWISE_CONV_2D": of_int16(depthwise_conv_2d),
    "DEQUANTIZE": of_int16(dequantize),
    "EXPAND_DIMS": of_int16(expand_dims),
    "FULLY_CONNECTED": of_int16(fully_connected),
    "LEAKY_RELU": function(
        "LEAKY_RELU",
        "LeakyReluOptions",
        "near",
        np.int16,
        alpha=lambda r: float(r.uniform(0.01, 2.0)),
    ),
    "MAXIMUM": extreme("MAXIMUM", np.int16),
    "MAX_POOL_2D": pool("MAX_POOL_2D", np.int16),
    "MEAN": reduction("MEAN", same=False, dtype=np.int16),
    "MINIMUM": extreme("MINIMUM", np.int16),
    "MUL": binary("MUL", "MulOptions", np.int16),
    "PACK": of_int16(pack),
    "PAD": pad("PAD", "PadOptions", np.int16),
    "QUANTIZE": quantize(np.int16, np.int8),
    "QUANTIZE from int8": quantize(np.int8, np.int16),
    "RELU": function("RELU", "", "near", np.int16),
    "RELU6": function("RELU6", "", "same", np.int16),
    "RESHAPE": of_int16(reshape),
    "RESIZE_NEAREST_NEIGHBOR": resize(
        "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions", np.int16
    ),
    "SLICE": of_int16(slice_),
    "SPLIT": of_int16(split),
    "SPLIT_V": of_int16(split_v),
    "SQUEEZE": of_int16(squeeze),
    "STRIDED_SLICE": of_int16(strided_slice),
    "SUB": binary("SUB", "SubOptions", np.int16),
    "SUM": reduction("SUM", same=False, dtype=np.int16),
    "SVDF": of_int16(svdf),
    "TRANSPOSE": of_int16(transpose),
    "TRANSPOSE_CONV": of_int16(transpose_conv),
    "UNPACK": of_int16(unpack),
}
"""The same of int16 values with int8 weights."""

NEARLY: dict[str, tuple[Case, int]] = {
    "LOGISTIC": (function("LOGISTIC", "", (1 / 32768, 0), np.int16), 3),
    "SOFTMAX": (of_int16(softmax), 28),
    "TANH": (function("TANH", "", (1 / 32768, 0), np.int16), 6),
}
"""int16 cases without TFLite's exact bits, and the largest difference in steps of 2^-15."""

SELECTING: dict[str, Callable[[Any], Case]] = {
    "ARG_MAX": lambda dtype: partial(arg_max, dtype=dtype),
    "GATHER": lambda dtype: partial(gather, dtype=dtype),
    "MIRROR_PAD": lambda dtype: partial(mirror_pad, dtype=dtype),
    "REDUCE_MAX": lambda dtype: reduction("REDUCE_MAX", same=True, dtype=dtype),
    "REDUCE_MIN": lambda dtype: reduction("REDUCE_MIN", same=True, dtype=dtype),
    "RESIZE_BILINEAR": lambda dtype: resize("RESIZE_BILINEAR", "ResizeBilinearOptions", dtype),
}
"""int16 cases in TFLite but not in TFLite Micro; integers within int8's range give
int8's results.
"""
