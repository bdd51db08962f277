# SPDX-License-Identifier: Apache-2.0
"""Cases of data movement: no values are computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aot.importers.tflite.testing.build import File, Quantized
from aot.importers.tflite.testing.random_values import NONE, Random, integers, quantized, some


def moved(file: File, name: str, inputs: list[int], result: Any, q: Quantized, *args: Any) -> File:
    y = file.tensor(result, quantized=q)
    options = args[0] if args else ""
    file.op(name, inputs, [y], options, 2, **(args[1] if len(args) > 1 else {}))
    file.output(y)
    return file


def reshape(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    a, b, c = map(int, random.integers(1, 6, 3))
    x, shape = file.input((a, b, c), q), [c, a * b]
    fields = {"newShape": shape}
    return moved(file, "RESHAPE", [x, file.ints(shape)], shape, q, "ReshapeOptions", fields)


def squeeze(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    a, b = map(int, random.integers(2, 6, 2))
    x = file.input((1, a, 1, b), q)
    return moved(file, "SQUEEZE", [x], (a, b), q, "SqueezeOptions", {"squeezeDims": [0, 2]})


def expand_dims(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    a, b = map(int, random.integers(2, 6, 2))
    x = file.input((a, b), q)
    return moved(file, "EXPAND_DIMS", [x, file.ints([1])], (a, 1, b), q, "ExpandDimsOptions")


def transpose(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    shape = list(map(int, random.integers(1, 6, 4)))
    perm = [int(d) for d in random.permutation(4)]
    x = file.input(shape, q)
    result = [shape[d] for d in perm]
    return moved(file, "TRANSPOSE", [x, file.ints(perm)], result, q, "TransposeOptions")


def broadcast_to(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    result = list(map(int, random.integers(1, 6, 4)))
    kept = int(random.integers(1, 5))
    shape = [size if random.integers(2) else 1 for size in result[-kept:]]
    x = file.input(shape, q)
    return moved(file, "BROADCAST_TO", [x, file.ints(result)], result, q, "BroadcastToOptions")


def concatenation(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    shape, dim = list(map(int, random.integers(1, 6, 4))), int(random.integers(4))
    sizes = list(map(int, random.integers(1, 5, 3)))
    inputs = [file.input([*shape[:dim], s, *shape[dim + 1 :]], q) for s in sizes]
    result = [*shape[:dim], sum(sizes), *shape[dim + 1 :]]
    fields = {"axis": some(random, (dim, dim - 4)), "fusedActivationFunction": NONE}
    return moved(file, "CONCATENATION", inputs, result, q, "ConcatenationOptions", fields)


def pack(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    shape, dim = list(map(int, random.integers(1, 6, 2))), int(random.integers(3))
    inputs = [file.input(shape, q) for _ in range(3)]
    result = [*shape[:dim], 3, *shape[dim:]]
    fields = {"axis": dim, "valuesCount": 3}
    return moved(file, "PACK", inputs, result, q, "PackOptions", fields)


def results(
    file: File, name: str, inputs: list[int], shapes: Any, q: Quantized, *args: Any
) -> File:
    outputs = [file.tensor(shape, quantized=q) for shape in shapes]
    file.op(name, inputs, outputs, args[0], 2, **args[1])
    file.output(*outputs)
    return file


def unpack(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    shape, dim = list(map(int, random.integers(1, 5, 3))), int(random.integers(3))
    x = file.input(shape, q)
    fields = {"axis": dim, "num": shape[dim]}
    shapes = [shape[:dim] + shape[dim + 1 :]] * shape[dim]
    return results(file, "UNPACK", [x], shapes, q, "UnpackOptions", fields)


def split(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    shape, dim = list(map(int, random.integers(1, 5, 3))), int(random.integers(3))
    shapes = [list(shape)] * 3
    x = file.input([*shape[:dim], 3 * shape[dim], *shape[dim + 1 :]], q)
    return results(
        file, "SPLIT", [file.ints([dim]), x], shapes, q, "SplitOptions", {"numSplits": 3}
    )


def split_v(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    shape, dim = list(map(int, random.integers(1, 5, 3))), int(random.integers(3))
    sizes = [1, 3, 2]
    x = file.input([*shape[:dim], 6, *shape[dim + 1 :]], q)
    shapes = [[*shape[:dim], s, *shape[dim + 1 :]] for s in sizes]
    given = some(random, (sizes, [1, -1, 2]))
    inputs = [x, file.ints(given), file.ints(np.asarray(dim))]
    return results(file, "SPLIT_V", inputs, shapes, q, "SplitVOptions", {"numSplits": 3})


def slice_(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    shape = list(map(int, random.integers(2, 7, 4)))
    begin = [int(random.integers(s)) for s in shape]
    size = [int(random.integers(1, s - b + 1)) for s, b in zip(shape, begin, strict=True)]
    given = [-1 if b + s == e else s for s, b, e in zip(size, begin, shape, strict=True)]
    inputs = [file.input(shape, q), file.ints(begin), file.ints(given)]
    return moved(file, "SLICE", inputs, size, q, "SliceOptions")


def strided_slice(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    shape = list(map(int, random.integers(3, 8, 4)))
    begin, end, step, result = [], [], [], []
    begin_mask = end_mask = shrink = 0
    for dim, size in enumerate(shape):
        kind = random.integers(4)
        places = list(range(size))
        if kind == 0:
            begin.append(int(random.integers(-size, size)))
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
            begin.append(int(random.integers(0, size - 1)))
            end.append(size)
            step.append(int(random.integers(1, 3)))
        else:
            begin.append(size - 1)
            end.append(0)
            step.append(-1)
        first = None if begin_mask & (1 << dim) else begin[-1]
        last = None if end_mask & (1 << dim) else end[-1]
        result.append(len(places[first : last : step[-1]]))
    inputs = [file.input(shape, q), *map(file.ints, (begin, end, step))]
    fields = {"beginMask": begin_mask, "endMask": end_mask, "shrinkAxisMask": shrink}
    return moved(file, "STRIDED_SLICE", inputs, result, q, "StridedSliceOptions", fields)


def pad(name: str, options: str, dtype: Any = np.int8) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file, q = File(dtype), quantized(random, dtype)
        shape = list(map(int, random.integers(1, 6, 4)))
        pads = random.integers(0, 3, (4, 2))
        result = [int(s + p.sum()) for s, p in zip(shape, pads, strict=True)]
        inputs = [file.input(shape, q), file.ints(pads)]
        if name == "PADV2":
            inputs.append(file.constant(np.array([random.integers(-128, 128)], dtype), q))
        return moved(file, name, inputs, result, q, options)

    return case


def mirror_pad(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    shape = list(map(int, random.integers(3, 6, 3)))
    pads = random.integers(0, 3, (3, 2))
    result = [int(s + p.sum()) for s, p in zip(shape, pads, strict=True)]
    inputs = [file.input(shape, q), file.ints(pads)]
    fields = {"mode": int(random.integers(2))}
    return moved(file, "MIRROR_PAD", inputs, result, q, "MirrorPadOptions", fields)


def gather(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    if random.integers(3) == 0:
        table = file.constant(integers(random, (9, 4)).astype(dtype), q)
        indices = file.ints(integers(random, (5,), 0, 8))
        x = file.input((1, 4), q)
        rows = file.tensor((5, 4), quantized=q)
        file.op("GATHER", [table, indices], [rows], "GatherOptions", 2, axis=0)
        return moved(file, "CONCATENATION", [x, rows], (6, 4), q, "ConcatenationOptions")
    shape, dim = list(map(int, random.integers(2, 6, 3))), int(random.integers(3))
    given = some(random, ((4,), (2, 3)))
    indices = file.ints(integers(random, given, 0, shape[dim] - 1))
    x = file.input(shape, q)
    result = [*shape[:dim], *given, *shape[dim + 1 :]]
    return moved(file, "GATHER", [x, indices], result, q, "GatherOptions", {"axis": dim})


def resize(name: str, options: str, dtype: Any = np.int8) -> Callable[[Random], File]:
    def case(random: Random) -> File:
        file, q = File(dtype), quantized(random, dtype)
        h, w, c = map(int, random.integers(1, 9, 3))
        size = list(map(int, random.integers(1, 14, 2)))
        corners, centres = some(random, ((False, False), (True, False), (False, True)))
        fields = {"alignCorners": corners, "halfPixelCenters": centres}
        inputs = [file.input((1, h, w, c), q), file.ints(size)]
        return moved(file, name, inputs, (1, *size, c), q, options, fields)

    return case
