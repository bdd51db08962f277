# SPDX-License-Identifier: Apache-2.0
"""Calls of each builtin with random shapes, scales and options, as files of one op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aot.importers.tflite.testing.build import File, Quantized

Random = np.random.Generator
_SAME, _VALID = 0, 1
_NONE, _RELU, _RELU_N1_TO_1, _RELU6 = 0, 1, 2, 3
_ACTIVATIONS = (_NONE, _RELU, _RELU_N1_TO_1, _RELU6)


def scale(random: Random, low: float = 0.002, high: float = 0.2) -> float:
    return float(np.float32(np.exp(random.uniform(np.log(low), np.log(high)))))


def quantized(random: Random, dtype: Any = np.int8) -> Quantized:
    if dtype == np.int16:
        return scale(random, 1e-5, 1e-3), 0
    return scale(random), int(random.integers(-128, 128))


def _integers(random: Random, shape: Sequence[int], low: int = -127, high: int = 127) -> Any:
    return random.integers(low, high, tuple(shape), np.int64, endpoint=True)


def _some(random: Random, options: Sequence[Any]) -> Any:
    return options[int(random.integers(len(options)))]


def _steps(random: Random) -> dict[str, int]:
    dilated = random.integers(3) == 0
    low, high = (1, 2) if dilated else (1, 3)
    return {
        "strideH": 1 if dilated else int(random.integers(low, high + 1)),
        "strideW": 1 if dilated else int(random.integers(low, high + 1)),
        "dilationHFactor": int(random.integers(1, 4)) if dilated else 1,
        "dilationWFactor": int(random.integers(1, 4)) if dilated else 1,
    }


def _extent(size: int, taps: int, stride: int, dilation: int, padding: int) -> int:
    if padding == _SAME:
        return -(-size // stride)
    return (size - (taps - 1) * dilation - 1) // stride + 1


def _weights(
    file: File, random: Random, shape: Sequence[int], axis: int, x: Quantized, dtype: Any
) -> tuple[list[int], Quantized]:
    """Weights and bias, and a quantization that the sums make some use of."""
    channels = shape[axis]
    per_channel = random.integers(4) > 0
    scales = [scale(random, 0.001, 0.02) for _ in range(channels if per_channel else 1)]
    w = file.tensor(shape, data=_integers(random, shape), scales=scales, axis=axis)
    inputs = [w]
    if random.integers(4) > 0:
        wide = np.int64 if dtype == np.int16 else np.int32
        values = _integers(random, (channels,), -30000, 30000)
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
    groups = _some(random, (1, 1, 2)) if dtype == np.int8 else 1
    depth, outputs = int(random.integers(1, 9)), groups * int(random.integers(1, 9))
    options, padding = _steps(random), _some(random, (_SAME, _VALID))
    given = file.input((n, h, w, depth * groups), x, dtype)
    more, out = _weights(file, random, (outputs, kh, kw, depth), 0, x, dtype)
    size = (
        _extent(h, kh, options["strideH"], options["dilationHFactor"], padding),
        _extent(w, kw, options["strideW"], options["dilationWFactor"], padding),
    )
    y = file.tensor((n, *size, outputs), dtype, out)
    options |= {"padding": padding, "fusedActivationFunction": _some(random, _ACTIVATIONS)}
    file.op("CONV_2D", [given, *more], [y], "Conv2DOptions", 3, **options)
    file.output(y)
    return file


def depthwise_conv_2d(random: Random, dtype: Any = np.int8) -> File:
    file, x = File(), quantized(random, dtype)
    n, h, w = int(random.integers(1, 3)), *map(int, random.integers(7, 12, 2))
    kh, kw = map(int, random.integers(1, 4, 2))
    channels, multiplier = int(random.integers(1, 9)), int(random.integers(1, 4))
    options, padding = _steps(random), _some(random, (_SAME, _VALID))
    given = file.input((n, h, w, channels), x, dtype)
    more, out = _weights(file, random, (1, kh, kw, channels * multiplier), 3, x, dtype)
    size = (
        _extent(h, kh, options["strideH"], options["dilationHFactor"], padding),
        _extent(w, kw, options["strideW"], options["dilationWFactor"], padding),
    )
    y = file.tensor((n, *size, channels * multiplier), dtype, out)
    options |= {"padding": padding, "fusedActivationFunction": _some(random, _ACTIVATIONS)}
    options["depthMultiplier"] = multiplier
    file.op("DEPTHWISE_CONV_2D", [given, *more], [y], "DepthwiseConv2DOptions", 3, **options)
    file.output(y)
    return file


def transpose_conv(random: Random) -> File:
    file, x = File(), quantized(random)
    h, w, depth, outputs = map(int, random.integers(2, 6, 4))
    kh, kw = map(int, random.integers(1, 5, 2))
    sh, sw = map(int, random.integers(1, 4, 2))
    padding = _some(random, (_SAME, _VALID))
    if padding == _SAME:
        size = (h * sh, w * sw)
    else:
        size = (h * sh + max(kh - sh, 0), w * sw + max(kw - sw, 0))
    shape = (1, *size, outputs)
    given = file.input((1, h, w, depth), x)
    more, out = _weights(file, random, (outputs, kh, kw, depth), 0, x, np.int8)
    y = file.tensor(shape, np.int8, out)
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
    shape = _some(random, ((depth,), (1, depth), (3, depth), (2, 3, depth)))
    keeps = len(shape) == 3
    given = file.input(shape, x, dtype)
    more, out = _weights(file, random, (units, depth), 0, x, dtype)
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
        fusedActivationFunction=_some(random, _ACTIVATIONS),
    )
    file.output(y)
    return file


def _binary(name: str, options: str, dtype: Any) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file = File()
        shape = tuple(map(int, random.integers(1, 7, 4)))
        other = _some(random, (shape, shape, (1, 1, 1, shape[3]), (1,)))
        of_a, of_b = quantized(random, dtype), quantized(random, dtype)
        a = file.input(shape, of_a, dtype)
        if random.integers(3) == 0:
            b = file.tensor(other, dtype, of_b, _integers(random, other))
        else:
            b = file.input(other, of_b, dtype)
        inputs = [a, b] if random.integers(2) else [b, a]
        if name == "MUL":
            out = of_a[0] * of_b[0] * (40.0 if dtype == np.int8 else 20000.0)
        else:
            out = max(of_a[0], of_b[0])
        out *= float(random.uniform(0.7, 2.0))
        y = file.tensor(shape, dtype, (float(np.float32(out)), quantized(random, dtype)[1]))
        activation = _some(random, _ACTIVATIONS)
        file.op(name, inputs, [y], options, 2, fusedActivationFunction=activation)
        file.output(y)
        return file

    return case


def _extreme(name: str) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file, q = File(), quantized(random)
        shape = tuple(map(int, random.integers(1, 7, 4)))
        inputs = [file.input(shape, q), file.input(_some(random, (shape, (1, shape[3]))), q)]
        y = file.tensor(shape, np.int8, q)
        file.op(name, inputs, [y], "MaximumMinimumOptions", 2)
        file.output(y)
        return file

    return case


def _pool(name: str, dtype: Any = np.int8) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file, q = File(), quantized(random, dtype)
        h, w, c = map(int, random.integers(4, 10, 3))
        kh, kw, sh, sw = map(int, random.integers(1, 4, 4))
        padding = _some(random, (_SAME, _VALID))
        x = file.input((1, h, w, c), q, dtype)
        size = _extent(h, kh, sh, 1, padding), _extent(w, kw, sw, 1, padding)
        y = file.tensor((1, *size, c), dtype, q)
        fields = {"filterHeight": kh, "filterWidth": kw, "strideH": sh, "strideW": sw}
        fields |= {"padding": padding, "fusedActivationFunction": _some(random, _ACTIVATIONS)}
        file.op(name, [x], [y], "Pool2DOptions", 2, **fields)
        file.output(y)
        return file

    return case


def _reduction(name: str, same: bool, dtype: Any = np.int8) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file, q = File(), quantized(random, dtype)
        shape = tuple(map(int, random.integers(1, 9, 4)))
        axes = _some(random, ([1, 2], [2, 1], [3], [1], [-1], [1, 2, 3]))
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


def arg_max(random: Random) -> File:
    file = File()
    shape = tuple(map(int, random.integers(2, 7, 3)))
    axis = int(random.integers(-1, 3))
    x = file.input(shape, quantized(random))
    y = file.tensor([s for d, s in enumerate(shape) if d != axis % 3], np.int32)
    file.op("ARG_MAX", [x, file.ints([axis])], [y], "ArgMaxOptions", 2, outputType=2)
    file.output(y)
    return file


def softmax(random: Random) -> File:
    file = File()
    shape = tuple(map(int, random.integers(1, 20, 2)))
    x = file.input(shape, (scale(random, 0.01, 0.5), int(random.integers(-128, 128))))
    y = file.tensor(shape, np.int8, (1 / 256, -128))
    file.op("SOFTMAX", [x], [y], "SoftmaxOptions", 2, beta=_some(random, (1.0, 1.0, 0.5)))
    file.output(y)
    return file


def _function(
    name: str, options: str, out: Quantized | str, **fields: Callable[[Random], Any]
) -> Callable[[Random], File]:
    """Of all 256 values."""

    def case(random: Random) -> File:
        file, q = File(), (scale(random, 0.002, 0.5), int(random.integers(-128, 128)))
        x = file.input((16, 64), q)
        if out == "same":
            of = q
        elif out == "near":
            of = (float(np.float32(q[0] * random.uniform(0.5, 4))), int(random.integers(-128, 128)))
        else:
            assert isinstance(out, tuple)
            of = out
        y = file.tensor((16, 64), np.int8, of)
        file.op(name, [x], [y], options, 2, **{k: v(random) for k, v in fields.items()})
        file.output(y)
        return file

    return case


def svdf(random: Random) -> File:
    """Where the zero point of its state is not 0 the state does not saturate: the TFLite Micro that
    is the oracle wraps around there.
    """
    file, x, kept = File(), quantized(random), (scale(random), 0)
    if random.integers(2):
        kept = scale(random, 4.0, 8.0), int(random.integers(-60, 60))
    size, rank, units, memory = map(int, random.integers((1, 1, 1, 2), (12, 4, 6, 7)))
    filters = rank * units
    features, time = scale(random, 0.001, 0.02), scale(random, 0.001, 0.02)
    inputs = [
        file.input((1, size), x),
        file.tensor((filters, size), np.int8, (features, 0), _integers(random, (filters, size))),
        file.tensor((filters, memory), np.int8, (time, 0), _integers(random, (filters, memory))),
        file.tensor(
            (units,),
            np.int32,
            (float(np.float32(kept[0]) * np.float32(time)), 0),
            _integers(random, (units,), -3000, 3000),
        ),
        file.tensor((1, memory * filters), np.int8, kept, variable=True),
    ]
    spread = kept[0] * time * 73 * 73 * np.sqrt(rank * memory) / 60
    y = file.tensor((1, units), np.int8, (float(np.float32(spread)), x[1]))
    file.op("SVDF", inputs, [y], "SVDFOptions", 3, rank=rank, fusedActivationFunction=_NONE)
    file.output(y)
    return file


def prelu(random: Random) -> File:
    file, q, slope = File(), quantized(random), quantized(random)
    shape = tuple(map(int, random.integers(2, 7, 4)))
    x = file.input(shape, q)
    alpha = file.tensor((1, 1, shape[3]), np.int8, slope, _integers(random, (1, 1, shape[3])))
    y = file.tensor(shape, np.int8, (float(np.float32(q[0] * random.uniform(0.7, 2))), q[1]))
    file.op("PRELU", [x, alpha], [y])
    file.output(y)
    return file


def _moved(file: File, name: str, inputs: list[int], result: Any, q: Quantized, *args: Any) -> File:
    y = file.tensor(result, np.int8, q)
    options = args[0] if args else ""
    file.op(name, inputs, [y], options, 2, **(args[1] if len(args) > 1 else {}))
    file.output(y)
    return file


def reshape(random: Random) -> File:
    file, q = File(), quantized(random)
    a, b, c = map(int, random.integers(1, 6, 3))
    x, shape = file.input((a, b, c), q), [c, a * b]
    fields = {"newShape": shape}
    return _moved(file, "RESHAPE", [x, file.ints(shape)], shape, q, "ReshapeOptions", fields)


def squeeze(random: Random) -> File:
    file, q = File(), quantized(random)
    a, b = map(int, random.integers(2, 6, 2))
    x = file.input((1, a, 1, b), q)
    return _moved(file, "SQUEEZE", [x], (a, b), q, "SqueezeOptions", {"squeezeDims": [0, 2]})


def expand_dims(random: Random) -> File:
    file, q = File(), quantized(random)
    a, b = map(int, random.integers(2, 6, 2))
    x = file.input((a, b), q)
    return _moved(file, "EXPAND_DIMS", [x, file.ints([1])], (a, 1, b), q, "ExpandDimsOptions")


def transpose(random: Random) -> File:
    file, q = File(), quantized(random)
    shape = list(map(int, random.integers(1, 6, 4)))
    perm = [int(d) for d in random.permutation(4)]
    x = file.input(shape, q)
    result = [shape[d] for d in perm]
    return _moved(file, "TRANSPOSE", [x, file.ints(perm)], result, q, "TransposeOptions")


def concatenation(random: Random) -> File:
    file, q = File(), quantized(random)
    shape, dim = list(map(int, random.integers(1, 6, 4))), int(random.integers(4))
    sizes = list(map(int, random.integers(1, 5, 3)))
    inputs = [file.input([*shape[:dim], s, *shape[dim + 1 :]], q) for s in sizes]
    result = [*shape[:dim], sum(sizes), *shape[dim + 1 :]]
    fields = {"axis": _some(random, (dim, dim - 4)), "fusedActivationFunction": _NONE}
    return _moved(file, "CONCATENATION", inputs, result, q, "ConcatenationOptions", fields)


def pack(random: Random) -> File:
    file, q = File(), quantized(random)
    shape, dim = list(map(int, random.integers(1, 6, 2))), int(random.integers(3))
    inputs = [file.input(shape, q) for _ in range(3)]
    result = [*shape[:dim], 3, *shape[dim:]]
    fields = {"axis": dim, "valuesCount": 3}
    return _moved(file, "PACK", inputs, result, q, "PackOptions", fields)


def _results(
    file: File, name: str, inputs: list[int], shapes: Any, q: Quantized, *args: Any
) -> File:
    outputs = [file.tensor(shape, np.int8, q) for shape in shapes]
    file.op(name, inputs, outputs, args[0], 2, **args[1])
    file.output(*outputs)
    return file


def unpack(random: Random) -> File:
    file, q = File(), quantized(random)
    shape, dim = list(map(int, random.integers(1, 5, 3))), int(random.integers(3))
    x = file.input(shape, q)
    fields = {"axis": dim, "num": shape[dim]}
    shapes = [shape[:dim] + shape[dim + 1 :]] * shape[dim]
    return _results(file, "UNPACK", [x], shapes, q, "UnpackOptions", fields)


def split(random: Random) -> File:
    file, q = File(), quantized(random)
    shape, dim = list(map(int, random.integers(1, 5, 3))), int(random.integers(3))
    shapes = [list(shape)] * 3
    x = file.input([*shape[:dim], 3 * shape[dim], *shape[dim + 1 :]], q)
    return _results(
        file, "SPLIT", [file.ints([dim]), x], shapes, q, "SplitOptions", {"numSplits": 3}
    )


def split_v(random: Random) -> File:
    file, q = File(), quantized(random)
    shape, dim = list(map(int, random.integers(1, 5, 3))), int(random.integers(3))
    sizes = [1, 3, 2]
    x = file.input([*shape[:dim], 6, *shape[dim + 1 :]], q)
    shapes = [[*shape[:dim], s, *shape[dim + 1 :]] for s in sizes]
    given = _some(random, (sizes, [1, -1, 2]))
    inputs = [x, file.ints(given), file.ints(np.asarray(dim))]
    return _results(file, "SPLIT_V", inputs, shapes, q, "SplitVOptions", {"numSplits": 3})


def slice_(random: Random) -> File:
    file, q = File(), quantized(random)
    shape = list(map(int, random.integers(2, 7, 4)))
    begin = [int(random.integers(s)) for s in shape]
    size = [int(random.integers(1, s - b + 1)) for s, b in zip(shape, begin, strict=True)]
    given = [-1 if b + s == e else s for s, b, e in zip(size, begin, shape, strict=True)]
    inputs = [file.input(shape, q), file.ints(begin), file.ints(given)]
    return _moved(file, "SLICE", inputs, size, q, "SliceOptions")


def strided_slice(random: Random) -> File:
    file, q = File(), quantized(random)
    shape = list(map(int, random.integers(3, 8, 4)))
    begin, end, step, result = [], [], [], []
    begin_mask = end_mask = shrink = 0
    for dim, extent in enumerate(shape):
        kind = random.integers(4)
        places = list(range(extent))
        if kind == 0:
            begin.append(int(random.integers(-extent, extent)))
            end.append(begin[-1] + 1)
            step.append(1)
            shrink |= 1 << dim
            continue
        if kind == 1:
            begin.append(0)
            end.append(0)
            step.append(int(random.integers(1, 3)))
            begin_mask |= 1 << dim
            end_mask |= 1 << dim
        elif kind == 2:
            begin.append(int(random.integers(0, extent - 1)))
            end.append(extent)
            step.append(int(random.integers(1, 3)))
        else:
            begin.append(extent - 1)
            end.append(0)
            step.append(-1)
        first = None if begin_mask & (1 << dim) else begin[-1]
        last = None if end_mask & (1 << dim) else end[-1]
        result.append(len(places[first : last : step[-1]]))
    inputs = [file.input(shape, q), *map(file.ints, (begin, end, step))]
    fields = {"beginMask": begin_mask, "endMask": end_mask, "shrinkAxisMask": shrink}
    return _moved(file, "STRIDED_SLICE", inputs, result, q, "StridedSliceOptions", fields)


def _pad(name: str, options: str) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file, q = File(), quantized(random)
        shape = list(map(int, random.integers(1, 6, 4)))
        pads = random.integers(0, 3, (4, 2))
        result = [int(s + p.sum()) for s, p in zip(shape, pads, strict=True)]
        inputs = [file.input(shape, q), file.ints(pads)]
        if name == "PADV2":
            inputs.append(file.constant(np.array([random.integers(-128, 128)], np.int8), q))
        return _moved(file, name, inputs, result, q, options)

    return case


def mirror_pad(random: Random) -> File:
    file, q = File(), quantized(random)
    shape = list(map(int, random.integers(3, 6, 3)))
    pads = random.integers(0, 3, (3, 2))
    result = [int(s + p.sum()) for s, p in zip(shape, pads, strict=True)]
    inputs = [file.input(shape, q), file.ints(pads)]
    fields = {"mode": int(random.integers(2))}
    return _moved(file, "MIRROR_PAD", inputs, result, q, "MirrorPadOptions", fields)


def gather(random: Random) -> File:
    file, q = File(), quantized(random)
    if random.integers(3) == 0:
        table = file.constant(_integers(random, (9, 4)).astype(np.int8), q)
        indices = file.ints(_integers(random, (5,), 0, 8))
        x = file.input((1, 4), q)
        rows = file.tensor((5, 4), np.int8, q)
        file.op("GATHER", [table, indices], [rows], "GatherOptions", 2, axis=0)
        return _moved(file, "CONCATENATION", [x, rows], (6, 4), q, "ConcatenationOptions")
    shape, dim = list(map(int, random.integers(2, 6, 3))), int(random.integers(3))
    given = _some(random, ((4,), (2, 3)))
    indices = file.ints(_integers(random, given, 0, shape[dim] - 1))
    x = file.input(shape, q)
    result = [*shape[:dim], *given, *shape[dim + 1 :]]
    return _moved(file, "GATHER", [x, indices], result, q, "GatherOptions", {"axis": dim})


def _resize(name: str, options: str) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file, q = File(), quantized(random)
        h, w, c = map(int, random.integers(1, 9, 3))
        size = list(map(int, random.integers(1, 14, 2)))
        corners, centres = _some(random, ((False, False), (True, False), (False, True)))
        fields = {"alignCorners": corners, "halfPixelCenters": centres}
        inputs = [file.input((1, h, w, c), q), file.ints(size)]
        return _moved(file, name, inputs, (1, *size, c), q, options, fields)

    return case


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


def _quantize(before: Any, after: Any) -> Callable[[Random], File]:
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


def dequantize(random: Random) -> File:
    file = File()
    x = file.input((4, 64), quantized(random))
    y = file.tensor((4, 64), np.float32)
    file.op("DEQUANTIZE", [x], [y], "DequantizeOptions", 2)
    file.output(y)
    return file


Case = Callable[[Random], File]

INT8: dict[str, Case] = {
    "ADD": _binary("ADD", "AddOptions", np.int8),
    "ARG_MAX": arg_max,
    "AVERAGE_POOL_2D": _pool("AVERAGE_POOL_2D"),
    "BATCH_MATMUL": batch_matmul,
    "CONCATENATION": concatenation,
    "CONV_2D": conv_2d,
    "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "DEQUANTIZE": dequantize,
    "EXPAND_DIMS": expand_dims,
    "FULLY_CONNECTED": fully_connected,
    "GATHER": gather,
    "HARD_SWISH": _function("HARD_SWISH", "HardSwishOptions", "near"),
    "LEAKY_RELU": _function(
        "LEAKY_RELU", "LeakyReluOptions", "near", alpha=lambda r: float(r.uniform(0.01, 1.0))
    ),
    "LOGISTIC": _function("LOGISTIC", "", (1 / 256, -128)),
    "MAXIMUM": _extreme("MAXIMUM"),
    "MAX_POOL_2D": _pool("MAX_POOL_2D"),
    "MEAN": _reduction("MEAN", same=False),
    "MINIMUM": _extreme("MINIMUM"),
    "MIRROR_PAD": mirror_pad,
    "MUL": _binary("MUL", "MulOptions", np.int8),
    "PACK": pack,
    "PAD": _pad("PAD", "PadOptions"),
    "PADV2": _pad("PADV2", "PadV2Options"),
    "PRELU": prelu,
    "QUANTIZE": _quantize(np.int8, np.int8),
    "REDUCE_MAX": _reduction("REDUCE_MAX", same=True),
    "REDUCE_MIN": _reduction("REDUCE_MIN", same=True),
    "RELU": _function("RELU", "", "near"),
    "RELU6": _function("RELU6", "", "same"),
    "RESHAPE": reshape,
    "RESIZE_BILINEAR": _resize("RESIZE_BILINEAR", "ResizeBilinearOptions"),
    "RESIZE_NEAREST_NEIGHBOR": _resize("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"),
    "SLICE": slice_,
    "SOFTMAX": softmax,
    "SPLIT": split,
    "SPLIT_V": split_v,
    "SQUEEZE": squeeze,
    "STRIDED_SLICE": strided_slice,
    "SUB": _binary("SUB", "SubOptions", np.int8),
    "SUM": _reduction("SUM", same=False),
    "SVDF": svdf,
    "TANH": _function("TANH", "", (1 / 128, 0)),
    "TRANSPOSE": transpose,
    "TRANSPOSE_CONV": transpose_conv,
    "UNPACK": unpack,
}
"""A maker of random calls of each builtin, of int8 values."""

INT16: dict[str, Case] = {
    "ADD": _binary("ADD", "AddOptions", np.int16),
    "AVERAGE_POOL_2D": _pool("AVERAGE_POOL_2D", np.int16),
    "BATCH_MATMUL": lambda random: batch_matmul(random, np.int16),
    "CONV_2D": lambda random: conv_2d(random, np.int16),
    "DEPTHWISE_CONV_2D": lambda random: depthwise_conv_2d(random, np.int16),
    "FULLY_CONNECTED": lambda random: fully_connected(random, np.int16),
    "MAX_POOL_2D": _pool("MAX_POOL_2D", np.int16),
    "MEAN": _reduction("MEAN", same=False, dtype=np.int16),
    "MUL": _binary("MUL", "MulOptions", np.int16),
    "QUANTIZE": _quantize(np.int16, np.int8),
    "QUANTIZE from int8": _quantize(np.int8, np.int16),
    "SUB": _binary("SUB", "SubOptions", np.int16),
}
"""The same of int16 values with int8 weights."""
