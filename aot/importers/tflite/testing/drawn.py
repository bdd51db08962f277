# SPDX-License-Identifier: Apache-2.0
"""The ops of random graphs: each reads available values, and adds its result to them. It returns
False if no value fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aot.importers.tflite.testing.drawing import Drawing, DrawnValue, fits
from aot.importers.tflite.testing.layers import weights
from aot.importers.tflite.testing.random_values import (
    ACTIVATIONS,
    SAME,
    VALID,
    extent,
    some,
    steps,
)

Op = Callable[[Drawing], bool]


def _windows(d: Drawing, x: DrawnValue, taps: Sequence[int], o: dict[str, int]) -> list[int]:
    """Return height and width of the windows' result; draw `padding` into the options."""
    o["padding"] = some(d.random, (SAME, VALID))
    o["fusedActivationFunction"] = some(d.random, ACTIVATIONS)
    return [
        extent(x.shape[1], taps[0], o["strideH"], o.get("dilationHFactor", 1), o["padding"]),
        extent(x.shape[2], taps[1], o["strideW"], o.get("dilationWFactor", 1), o["padding"]),
    ]


def conv_2d(d: Drawing) -> bool:
    x = d.image()
    if x is None:
        return False
    taps, options = (d.size(1, 4), d.size(1, 4)), steps(d.random)
    size, groups = _windows(d, x, taps, options), 1
    if d.dtype == np.int8 and x.shape[3] % 2 == 0 and d.one_in(3):
        groups = 2
    shape = (groups * d.size(1, 6), *taps, x.shape[3] // groups)
    result = (x.shape[0], *size, shape[0])
    if not fits(result):
        return False
    more, of = weights(d.file, d.random, shape, 0, x.of, d.dtype)
    return d.op("CONV_2D", [x.index, *more], result, of, "Conv2DOptions", **options)


def depthwise_conv_2d(d: Drawing) -> bool:
    x = d.image()
    if x is None:
        return False
    taps, options, times = (d.size(1, 4), d.size(1, 4)), steps(d.random), d.size(1, 3)
    size = _windows(d, x, taps, options)
    result = (x.shape[0], *size, x.shape[3] * times)
    if not fits(result):
        return False
    more, of = weights(d.file, d.random, (1, *taps, result[3]), 3, x.of, d.dtype)
    name, kind = "DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions"
    return d.op(name, [x.index, *more], result, of, kind, depthMultiplier=times, **options)


def transpose_conv(d: Drawing) -> bool:
    x = d.image()
    if x is None:
        return False
    (kh, kw), (sh, sw) = (d.size(1, 4), d.size(1, 4)), (d.size(1, 3), d.size(1, 3))
    padding = some(d.random, (SAME, VALID))
    more = (0, 0) if padding == SAME else (max(kh - sh, 0), max(kw - sw, 0))
    size = x.shape[1] * sh + more[0], x.shape[2] * sw + more[1]
    result = (x.shape[0], *size, d.size(1, 4))
    if not fits(result):
        return False
    w, of = weights(d.file, d.random, (result[3], kh, kw, x.shape[3]), 0, x.of, d.dtype)
    inputs = [d.file.ints(result), w[0], x.index, *w[1:]]
    fields = {"padding": padding, "strideH": sh, "strideW": sw}
    return d.op("TRANSPOSE_CONV", inputs, result, of, "TransposeConvOptions", **fields)


def fully_connected(d: Drawing) -> bool:
    x = d.any(lambda value: len(value.shape) > 0)
    if x is None:
        return False
    units, keeps = d.size(1, 9), d.one_in(2)
    rows = math.prod(x.shape) // x.shape[-1]
    more, of = weights(d.file, d.random, (units, x.shape[-1]), 0, x.of, d.dtype)
    tensors = d.file.at.tensors
    if len(more) > 1 and len(tensors[more[0]].quantization.scale) == 1:
        bias = tensors[more[1]].quantization
        bias.scale = [float(np.float32(x.of[0] * tensors[more[0]].quantization.scale[0]))]
    result = (*x.shape[:-1], units) if keeps else (rows, units)
    fields = {"keepNumDims": keeps, "fusedActivationFunction": some(d.random, ACTIVATIONS)}
    inputs = [x.index, *more]
    return d.op("FULLY_CONNECTED", inputs, result, of, "FullyConnectedOptions", **fields)


def batch_matmul(d: Drawing) -> bool:
    """Add a product of a value and its transpose, or of two fitting values."""
    a = d.any(lambda value: len(value.shape) in (2, 3, 4))
    if a is None:
        return False
    depth = a.shape[-1]

    def fitting(v: DrawnValue) -> bool:
        same = len(v.shape) == len(a.shape) and v.shape[:-2] == a.shape[:-2]
        return same and v.shape[-1] == depth

    b = d.any(fitting) or a
    spread = a.of[0] * b.of[0] * (60 if d.dtype == np.int8 else 15000) * math.sqrt(depth)
    result = (*a.shape[:-1], b.shape[-2])
    fields = {"adjX": False, "adjY": True}
    inputs = [a.index, b.index]
    return d.op("BATCH_MATMUL", inputs, result, d.near(spread), "BatchMatMulOptions", **fields)


def pool(d: Drawing) -> bool:
    x = d.image()
    if x is None:
        return False
    taps = d.size(1, 4), d.size(1, 4)
    options = {"strideH": d.size(1, 3), "strideW": d.size(1, 3)}
    size = _windows(d, x, taps, options)
    options |= {"filterHeight": taps[0], "filterWidth": taps[1]}
    name = some(d.random, ("AVERAGE_POOL_2D", "MAX_POOL_2D"))
    result = (x.shape[0], *size, x.shape[3])
    return d.op(name, [x.index], result, x.of, "Pool2DOptions", **options)


def _other(d: Drawing, x: DrawnValue, same: bool) -> DrawnValue | None:
    """Return another operand: a value of the same shape, or a repeated constant."""
    if d.one_in(2):
        return d.any(lambda v: v.shape == x.shape and (v.of == x.of or not same)) or x
    shape = [s if d.one_in(2) else 1 for s in x.shape]
    return d.constant(shape[d.size(0, len(shape)) :], x.of if same else d.of())


def binary(d: Drawing) -> bool:
    a = d.any()
    if a is None:
        return False
    b = _other(d, a, same=False)
    assert b is not None
    name = some(d.random, ("ADD", "MUL") if d.dtype == np.int16 else ("ADD", "SUB", "MUL"))
    scale = max(a.of[0], b.of[0])
    if name == "MUL":
        scale = a.of[0] * b.of[0] * (40.0 if d.dtype == np.int8 else 20000.0)
    inputs = [a.index, b.index] if d.one_in(2) else [b.index, a.index]
    options, activation = f"{name.capitalize()}Options", some(d.random, ACTIVATIONS)
    of = d.near(scale)
    return d.op(name, inputs, a.shape, of, options, fusedActivationFunction=activation)


def extreme(d: Drawing) -> bool:
    a = d.any()
    if a is None:
        return False
    b = _other(d, a, same=True)
    assert b is not None
    name = some(d.random, ("MAXIMUM", "MINIMUM"))
    return d.op(name, [a.index, b.index], a.shape, a.of, "MaximumMinimumOptions")


def reduction(d: Drawing) -> bool:
    x = d.any(lambda value: len(value.shape) > 0)
    if x is None:
        return False
    axes = [a for a in range(len(x.shape)) if d.one_in(2)] or [len(x.shape) - 1]
    keeps = d.one_in(2)
    shape = [1 if a in axes else s for a, s in enumerate(x.shape) if keeps or a not in axes]
    names = ("MEAN", "SUM") if d.dtype == np.int16 else ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN")
    name = some(d.random, names)
    of = x.of if name.startswith("REDUCE") else d.near(x.of[0] * (4 if name == "SUM" else 1))
    given = d.file.ints([a - len(x.shape) if d.one_in(3) else a for a in axes])
    return d.op(name, [x.index, given], shape, of, "ReducerOptions", keepDims=keeps)


def function(d: Drawing) -> bool:
    x = d.any()
    if x is None:
        return False
    names = ["RELU", "RELU6", "LEAKY_RELU"]
    if d.dtype == np.int8:
        names += ["LOGISTIC", "TANH", "HARD_SWISH", "QUANTIZE"]
    name = some(d.random, names)
    fixed = {"RELU6": x.of, "LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}
    of = fixed.get(name) or d.near(x.of[0])
    options = {"LEAKY_RELU": "LeakyReluOptions", "QUANTIZE": "QuantizeOptions"}.get(name, "")
    fields = {"alpha": float(d.random.uniform(0.01, 1.5))} if name == "LEAKY_RELU" else {}
    return d.op(name, [x.index], x.shape, of, options, **fields)


def prelu(d: Drawing) -> bool:
    x = d.any(lambda value: len(value.shape) > 1)
    if x is None:
        return False
    slopes = d.constant((x.shape[-1],), d.of())
    return d.op("PRELU", [x.index, slopes.index], x.shape, d.near(x.of[0]))


def reshape(d: Drawing) -> bool:
    x = d.any()
    if x is None:
        return False
    rest, shape = math.prod(x.shape), []
    for _ in range(d.size(0, 3)):
        shape.append(some(d.random, [k for k in range(1, rest + 1) if rest % k == 0]))
        rest //= shape[-1]
    shape.append(rest)
    return d.op("RESHAPE", [x.index, d.file.ints(shape)], shape, x.of, "ReshapeOptions")


def transpose(d: Drawing) -> bool:
    x = d.any(lambda value: len(value.shape) > 1)
    if x is None:
        return False
    perm = [int(p) for p in d.random.permutation(len(x.shape))]
    shape = [x.shape[p] for p in perm]
    return d.op("TRANSPOSE", [x.index, d.file.ints(perm)], shape, x.of, "TransposeOptions")


def concatenation(d: Drawing) -> bool:
    x = d.any(lambda value: len(value.shape) > 0)
    if x is None:
        return False
    axis = d.size(0, len(x.shape) - 1)

    def alike(v: DrawnValue) -> bool:
        rest = [s for a, s in enumerate(v.shape) if a != axis]
        same = v.of == x.of and len(v.shape) == len(x.shape)
        return same and rest == [s for a, s in enumerate(x.shape) if a != axis]

    others = [d.any(alike) or x for _ in range(d.size(1, 3))]
    if d.one_in(3):
        others.append(d.constant(x.shape, x.of))
    every = [x, *others]
    shape = list(x.shape)
    shape[axis] = sum(v.shape[axis] for v in every)
    inputs, given = [v.index for v in every], axis - len(shape) if d.one_in(3) else axis
    return d.op("CONCATENATION", inputs, shape, x.of, "ConcatenationOptions", axis=given)


def pad(d: Drawing) -> bool:
    x = d.any(lambda value: 0 < len(value.shape) < 5)
    if x is None:
        return False
    amounts = d.random.integers(0, 3, (len(x.shape), 2))
    shape = [int(s) for s in np.array(x.shape) + amounts.sum(1)]
    return d.op("PAD", [x.index, d.file.ints(amounts)], shape, x.of, "PadOptions")


def strided_slice(d: Drawing) -> bool:
    x = d.any(lambda value: 0 < len(value.shape) < 5)
    if x is None:
        return False
    begin = [d.size(0, s - 1) for s in x.shape]
    end = [d.size(b + 1, s) for b, s in zip(begin, x.shape, strict=True)]
    step = [d.size(1, 3) for _ in x.shape]
    ranges = zip(begin, end, step, strict=True)
    shape, shrinks = [len(range(*r)) for r in ranges], d.one_in(4)
    inputs = [x.index, *(d.file.ints(i) for i in (begin, end, step))]
    if shrinks:
        shape = shape[1:]
    return d.op(
        "STRIDED_SLICE", inputs, shape, x.of, "StridedSliceOptions", shrinkAxisMask=int(shrinks)
    )


def split(d: Drawing) -> bool:
    x = d.any(lambda value: any(s > 1 for s in value.shape))
    if x is None:
        return False
    axis = some(d.random, [a for a, s in enumerate(x.shape) if s > 1])
    count = some(d.random, [k for k in range(2, x.shape[axis] + 1) if x.shape[axis] % k == 0])
    shape = list(x.shape)
    shape[axis] //= count
    results = [d.result(shape, x.of) for _ in range(count)]
    inputs = [d.file.ints([axis]), x.index]
    d.file.op("SPLIT", inputs, results, "SplitOptions", 2, numSplits=count)
    return True


def gather(d: Drawing) -> bool:
    x = d.any(lambda value: len(value.shape) > 0)
    if x is None:
        return False
    axis = d.size(0, len(x.shape) - 1)
    places = d.random.integers(0, x.shape[axis], d.size(1, 5))
    shape = (*x.shape[:axis], len(places), *x.shape[axis + 1 :])
    inputs = [x.index, d.file.ints(places)]
    return d.op("GATHER", inputs, shape, x.of, "GatherOptions", axis=axis)


def mirror_pad(d: Drawing) -> bool:
    x = d.any(lambda value: 0 < len(value.shape) < 5)
    if x is None:
        return False
    amounts = np.array([[d.size(0, min(s - 1, 2)), d.size(0, min(s - 1, 2))] for s in x.shape])
    shape = [int(s) for s in np.array(x.shape) + amounts.sum(1)]
    inputs = [x.index, d.file.ints(amounts)]
    return d.op("MIRROR_PAD", inputs, shape, x.of, "MirrorPadOptions", mode=d.size(0, 1))


def resize(d: Drawing) -> bool:
    x = d.image()
    if x is None:
        return False
    size = [d.size(1, 12), d.size(1, 12)]
    names = ("RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR")
    name = names[0] if d.dtype == np.int16 else some(d.random, names)
    options = "".join(word.capitalize() for word in name.split("_")) + "Options"
    corners, centres = some(d.random, ((False, False), (True, False), (False, True)))
    fields: dict[str, Any] = {"alignCorners": corners, "halfPixelCenters": centres}
    shape = (x.shape[0], *size, x.shape[3])
    return d.op(name, [x.index, d.file.ints(size)], shape, x.of, options, **fields)


def space_to_depth(d: Drawing) -> bool:
    x = d.any(lambda v: len(v.shape) == 4 and v.shape[1] % 2 == 0 and v.shape[2] % 2 == 0)
    if x is None:
        return False
    n, h, w, c = x.shape
    options, shape = "SpaceToDepthOptions", (n, h // 2, w // 2, 4 * c)
    return d.op("SPACE_TO_DEPTH", [x.index], shape, x.of, options, blockSize=2)


OF_INT8: tuple[Op, ...] = (gather, mirror_pad, prelu, space_to_depth)
"""Ops with int8 values only in TFLite Micro."""

OPS: tuple[Op, ...] = (
    *(conv_2d, conv_2d, depthwise_conv_2d, transpose_conv, fully_connected, batch_matmul),
    *(pool, binary, binary, extreme, reduction, function, function, prelu, reshape, transpose),
    *(concatenation, concatenation, pad, strided_slice, split, gather, mirror_pad, resize),
    space_to_depth,
)
"""All of them; some twice, to be drawn more often."""
