# SPDX-License-Identifier: Apache-2.0
"""Cases of layers with weights, and of matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

from aot.importers.tflite.testing.build import File, Quantized
from aot.importers.tflite.testing.random_values import (
    ACTIVATIONS,
    NONE,
    SAME,
    TANH,
    VALID,
    Random,
    extent,
    integers,
    quantized,
    scale,
    some,
    steps,
)


def weights(
    file: File, random: Random, shape: Sequence[int], axis: int, x: Quantized, dtype: Any
) -> tuple[list[int], Quantized]:
    """Return weights, bias, and a quantization partly used by the sums."""
    channels = shape[axis]
    per_channel = random.integers(4) > 0
    scales = [scale(random, 0.001, 0.02) for _ in range(channels if per_channel else 1)]
    w = file.tensor(shape, np.int8, data=integers(random, shape), scales=scales, axis=axis)
    inputs = [w]
    if random.integers(4) > 0:
        wide = np.int64 if dtype == np.int16 else np.int32
        values = integers(random, (channels,), -30000, 30000)
        inputs.append(file.tensor((channels,), wide, data=values, scales=[x[0] * scales[0]]))
    depth = int(np.prod(shape)) // channels
    spread = x[0] * scales[0] * 73 * (127 if dtype == np.int8 else 32767) * np.sqrt(depth)
    steps = 127 if dtype == np.int8 else 32767
    zero_point = int(random.integers(-128, 128)) if dtype == np.int8 else 0
    return inputs, (float(np.float32(spread / steps * random.uniform(0.5, 3.0))), zero_point)


def conv_2d(random: Random, dtype: Any = np.int8) -> File:
    file, x = File(), quantized(random, dtype)
    n, h, w = int(random.integers(1, 3)), *map(int, random.integers(7, 12, 2))
    kh, kw = map(int, random.integers(1, 4, 2))
    groups = some(random, (1, 1, 2)) if dtype == np.int8 else 1
    depth, outputs = int(random.integers(1, 9)), groups * int(random.integers(1, 9))
    options, padding = steps(random), some(random, (SAME, VALID))
    given = file.input((n, h, w, depth * groups), x, dtype)
    more, out = weights(file, random, (outputs, kh, kw, depth), 0, x, dtype)
    size = (
        extent(h, kh, options["strideH"], options["dilationHFactor"], padding),
        extent(w, kw, options["strideW"], options["dilationWFactor"], padding),
    )
    y = file.tensor((n, *size, outputs), dtype, out)
    options |= {"padding": padding, "fusedActivationFunction": some(random, ACTIVATIONS)}
    file.op("CONV_2D", [given, *more], [y], "Conv2DOptions", 3, **options)
    file.output(y)
    return file


def depthwise_conv_2d(random: Random, dtype: Any = np.int8) -> File:
    file, x = File(), quantized(random, dtype)
    n, h, w = int(random.integers(1, 3)), *map(int, random.integers(7, 12, 2))
    kh, kw = map(int, random.integers(1, 4, 2))
    channels, multiplier = int(random.integers(1, 9)), int(random.integers(1, 4))
    options, padding = steps(random), some(random, (SAME, VALID))
    given = file.input((n, h, w, channels), x, dtype)
    more, out = weights(file, random, (1, kh, kw, channels * multiplier), 3, x, dtype)
    size = (
        extent(h, kh, options["strideH"], options["dilationHFactor"], padding),
        extent(w, kw, options["strideW"], options["dilationWFactor"], padding),
    )
    y = file.tensor((n, *size, channels * multiplier), dtype, out)
    options |= {"padding": padding, "fusedActivationFunction": some(random, ACTIVATIONS)}
    options["depthMultiplier"] = multiplier
    file.op("DEPTHWISE_CONV_2D", [given, *more], [y], "DepthwiseConv2DOptions", 3, **options)
    file.output(y)
    return file


def transpose_conv(random: Random, dtype: Any = np.int8) -> File:
    file, x = File(dtype), quantized(random, dtype)
    h, w, depth, outputs = map(int, random.integers(2, 6, 4))
    kh, kw = map(int, random.integers(1, 5, 2))
    sh, sw = map(int, random.integers(1, 4, 2))
    padding = some(random, (SAME, VALID))
    if padding == SAME:
        size = (h * sh, w * sw)
    else:
        size = (h * sh + max(kh - sh, 0), w * sw + max(kw - sw, 0))
    shape = (1, *size, outputs)
    given = file.input((1, h, w, depth), x)
    more, out = weights(file, random, (outputs, kh, kw, depth), 0, x, dtype)
    y = file.tensor(shape, quantized=out)
    inputs = [file.ints(shape), more[0], given, *more[1:]]
    file.op(
        "TRANSPOSE_CONV",
        inputs,
        [y],
        "TransposeConvOptions",
        3,
        padding=padding,
        strideH=sh,
        strideW=sw,
    )
    file.output(y)
    return file


def fully_connected(random: Random, dtype: Any = np.int8) -> File:
    file, x = File(), quantized(random, dtype)
    depth, units = map(int, random.integers(1, 40, 2))
    shape = some(random, ((depth,), (1, depth), (3, depth), (2, 3, depth)))
    keeps = len(shape) == 3
    given = file.input(shape, x, dtype)
    more, out = weights(file, random, (units, depth), 0, x, dtype)
    if len(file.at.tensors[more[0]].quantization.scale) == 1 and len(more) > 1:
        bias = file.at.tensors[more[1]].quantization
        bias.scale = [float(np.float32(x[0] * file.at.tensors[more[0]].quantization.scale[0]))]
    rows = int(np.prod(shape)) // depth
    y = file.tensor((*shape[:-1], units) if keeps else (rows, units), dtype, out)
    file.op(
        "FULLY_CONNECTED",
        [given, *more],
        [y],
        "FullyConnectedOptions",
        5,
        keepNumDims=keeps,
        fusedActivationFunction=some(random, ACTIVATIONS),
    )
    file.output(y)
    return file


def svdf(random: Random, dtype: Any = np.int8) -> File:
    """Return SVDF with a state, and weights of time, of `dtype`.

    If the zero point of its state is not 0, the state does not saturate: the oracle's TFLite Micro
    wraps around there.
    """
    file, x, wide = File(), quantized(random), dtype == np.int16
    kept = (scale(random, 1e-4, 1e-3) if wide else scale(random), 0)
    if not wide and random.integers(2):
        kept = scale(random, 4.0, 8.0), int(random.integers(-60, 60))
    size, rank, units, memory = map(int, random.integers((1, 1, 1, 2), (12, 4, 6, 7)))
    filters = rank * units
    features, time = scale(random, 0.001, 0.02), scale(random, 0.001, 0.02)
    most = 32767 if wide else 127
    by_time = integers(random, (filters, memory), -most, most)
    inputs = [
        file.input((1, size), x),
        file.tensor((filters, size), np.int8, (features, 0), integers(random, (filters, size))),
        file.tensor((filters, memory), dtype, (time, 0), by_time),
        file.tensor(
            (units,),
            np.int32,
            (float(np.float32(kept[0]) * np.float32(time)), 0),
            integers(random, (units,), -3000, 3000),
        ),
        file.tensor((1, memory * filters), dtype, kept, variable=True),
    ]
    spread = kept[0] * time * (most * 0.57) ** 2 * np.sqrt(rank * memory) / 60
    y = file.tensor((1, units), np.int8, (float(np.float32(spread)), x[1]))
    file.op("SVDF", inputs, [y], "SVDFOptions", 3, rank=rank, fusedActivationFunction=NONE)
    file.output(y)
    return file


def lstm(random: Random, clip: float = 0.0) -> File:
    """Return an LSTM with gates not always open or shut, and its cell clipped if clip is not 0."""
    file, x = File(), (scale(random, 0.01, 0.03), int(random.integers(-30, 30)))
    size, units, steps_, batch = map(int, random.integers((1, 1, 1, 1), (9, 9, 7, 3)))
    major = bool(random.integers(2))
    rows = (steps_, batch) if major else (batch, steps_)
    hidden = float(np.float32(1 / 128)), 0
    inputs = [file.input((*rows, size), x)]
    scales = {}
    for columns in (size, units):
        for _ in range(4):
            scales[len(inputs)] = scale(random, 0.004, 0.012)
            given = integers(random, (units, columns))
            of = scales[len(inputs)], 0
            inputs.append(file.tensor((units, columns), np.int8, of, given))
    inputs += [-1] * 3
    for gate in range(1, 5):
        of = float(np.float32(x[0] * scales[gate])), 0
        inputs.append(file.tensor((units,), np.int32, of, integers(random, (units,), -3000, 3000)))
    inputs += [-1] * 2
    inputs.append(file.tensor((batch, units), np.int8, hidden, variable=True))
    cell = 2.0 ** -int(random.integers(11, 13)), 0
    inputs.append(file.tensor((batch, units), np.int16, cell, variable=True))
    inputs += [-1] * 4
    y = file.tensor((*rows, units), np.int8, hidden)
    fields = {"fusedActivationFunction": TANH, "timeMajor": major, "cellClip": clip}
    options = "UnidirectionalSequenceLSTMOptions"
    file.op("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [y], options, 1, **fields)
    file.output(y)
    return file


def batch_matmul(random: Random, dtype: Any = np.int8) -> File:
    file, of_a, of_b = File(), quantized(random, dtype), quantized(random, dtype)
    n, m, k, p = map(int, random.integers(1, 9, 4))
    adj_x, adj_y = bool(random.integers(2)), bool(random.integers(2))
    a = file.input((n, k, m) if adj_x else (n, m, k), of_a, dtype)
    b = file.input((n, p, k) if adj_y else (n, k, p), of_b, dtype)
    spread = of_a[0] * of_b[0] * (60 if dtype == np.int8 else 15000) * np.sqrt(k)
    y = file.tensor((n, m, p), dtype, (float(np.float32(spread)), quantized(random, dtype)[1]))
    fields = {"adjX": adj_x, "adjY": adj_y}
    file.op("BATCH_MATMUL", [a, b], [y], "BatchMatMulOptions", 2, **fields)
    file.output(y)
    return file


def narrow_bias(file: File) -> None:
    """Make the int64 biases of a file's only op int32."""
    bias = file.at.tensors[file.at.operators[0].inputs[-1]]
    buffer = file.model.buffers[bias.buffer]
    narrow = buffer.data.view(np.int64).astype(np.int32)
    bias.type, buffer.data = schema.TensorType.INT32, narrow.view(np.uint8)
