# SPDX-License-Identifier: Apache-2.0
"""Files with uint8 borders, with integers without a scale, and with shapes that ops compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aot.importers.tflite.testing.build import File, Quantized

Q: Quantized = (0.05, 3)
BYTES: Quantized = (0.05, 131)
WHOLE: Quantized = (1 / 255, 0)
PROBABILITY: Quantized = (1 / 256, 0)
_SLICE, _PACK = "StridedSliceOptions", "PackOptions"


def values(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).integers(-127, 128, shape)


def unsigned(of: Quantized, result: Quantized, flat: bool = False) -> File:
    """Return an int8 layer between uint8 ops, as converters write with `inference_input_type`."""
    file = File()
    x, inner = file.input((1, 2, 6), of, np.uint8), file.tensor((1, 2, 6), np.int8, Q)
    if flat:  # the bytes are moved first
        flat_bytes = file.tensor((2, 6), np.uint8, of)
        file.op("RESHAPE", [x, file.ints([2, 6])], [flat_bytes], "ReshapeOptions")
        file.op("QUANTIZE", [flat_bytes], [inner], "QuantizeOptions", 2)
        file.at.tensors[inner].shape = [2, 6]
    else:
        file.op("QUANTIZE", [x], [inner], "QuantizeOptions", 2)
    weight = file.tensor((4, 6), np.int8, (0.01, 0), values(4, 6))
    y, out = file.tensor((2, 4), np.int8, (0.03, -4)), file.tensor((2, 4), np.uint8, result)
    file.op("FULLY_CONNECTED", [inner, weight, -1], [y], "FullyConnectedOptions", 4)
    file.op("QUANTIZE", [y], [out], "QuantizeOptions", 2)
    file.output(out)
    return file


def moved(dtype: Any, name: str, after: Sequence[int], options: str, *ints: Any) -> File:
    """Return an op that moves the input to the output. TFLite Micro has few of them for bytes."""
    file, of = File(dtype), (0.05, 131 if dtype == np.uint8 else 3)
    x, y = file.input((2, 3, 4), of), file.tensor(after, quantized=of)
    file.op(name, [x, *(file.ints(i) for i in ints)], [y], options, 2)
    file.output(y)
    return file


def unscaled(places: str, dtype: Any = np.int8) -> File:
    """Return three moves. Only values at `places` have a scale: i(nput), m(iddle), o(utput)."""
    file = File(dtype)
    zero_point = 0 if dtype == np.int16 else 3
    of = {place: (0.05, zero_point) if place in places else None for place in "imno"}
    x, m = file.input((1, 2, 3, 4), of["i"]), file.tensor((1, 4, 3, 4), quantized=of["m"])
    n, y = file.tensor((1, 4, 4, 3), quantized=of["n"]), file.tensor((8, 6), quantized=of["o"])
    file.op("PAD", [x, file.ints([[0, 0], [1, 1], [0, 0], [0, 0]])], [m], "PadOptions", 2)
    file.op("TRANSPOSE", [m, file.ints([0, 1, 3, 2])], [n], "TransposeOptions", 2)
    file.op("RESHAPE", [n, file.ints([8, 6])], [y], "ReshapeOptions")
    file.output(y)
    return file


def unscaled_before_a_layer() -> File:
    """Return a graph with an unscaled value before a layer, which takes the layer's scale."""
    file = File()
    x, flat, y = file.input((2, 3), None), file.tensor((6,), None, Q), file.tensor((6,), None, Q)
    file.op("RESHAPE", [x, file.ints([6])], [flat], "ReshapeOptions")
    file.op("RELU", [flat], [y])
    file.output(y)
    return file


def joined_without_a_scale() -> File:
    file = File()
    x, c = file.input((2, 3), None), file.constant(values(2, 3).astype(np.int8))
    y = file.tensor((4, 3))
    file.op("CONCATENATION", [x, c], [y], "ConcatenationOptions", 2, axis=0)
    file.output(y)
    return file


def unscaled_quantize() -> File:
    """Return a sum of a value, and of integers without a scale, which QUANTIZE takes for zeros."""
    file = File()
    x, n = file.input((2, 3), Q), file.input((2, 3), None, np.int8)
    zeros, y = file.tensor((2, 3), None, (0.1, 4)), file.tensor((2, 3), None, (0.06, -9))
    file.op("QUANTIZE", [n], [zeros], "QuantizeOptions", 2)
    file.op("ADD", [x, zeros], [y], "AddOptions", 2)
    file.output(y)
    return file


def _number(file: File, shape: int, place: int) -> int:
    """Return a size of a shape, as a scalar."""
    part = file.tensor((), np.int32)
    bounds = [file.ints([place]), file.ints([place + 1]), file.ints([1])]
    file.op("STRIDED_SLICE", [shape, *bounds], [part], _SLICE, 1, shrinkAxisMask=1)
    return part


def keras_reshape() -> File:
    """Return SHAPE, STRIDED_SLICE and PACK, as Keras writes Reshape and Flatten."""
    file = File()
    x, y, shape = (
        file.input((2, 3, 4), Q),
        file.tensor((2, 12), None, Q),
        file.tensor((3,), np.int32),
    )
    packed = file.tensor((2,), np.int32)
    file.op("SHAPE", [x], [shape], "ShapeOptions")
    rest = file.constant(np.asarray(12, np.int32))
    file.op("PACK", [_number(file, shape, 0), rest], [packed], _PACK, valuesCount=2, axis=0)
    file.op("RESHAPE", [x, packed], [y], "ReshapeOptions")
    file.output(y)
    return file


def computed_size(by_ops: bool) -> File:
    """Return a resize to twice a computed shape, and a fill of a shape, or both with constants."""
    file = File()
    x, shape = file.input((1, 3, 4, 2), Q), file.tensor((4,), np.int32)
    big, y = (file.tensor((1, 6, 8, 2), None, Q) for _ in range(2))
    if by_ops:
        sizes, size, filled = (file.tensor((n,), np.int32) for n in (2, 2, 4))
        fill = file.tensor((1, 6, 8, 2), None, Q)
        file.op("SHAPE", [x], [shape], "ShapeOptions")
        bounds = [file.ints([1]), file.ints([3]), file.ints([1])]
        file.op("STRIDED_SLICE", [shape, *bounds], [sizes], _SLICE)
        file.op("MUL", [sizes, file.ints([2, 2])], [size], "MulOptions")
        file.op("SHAPE", [big], [filled], "ShapeOptions")
        number = file.tensor((), np.int8, Q, np.asarray(7))
        file.op("FILL", [filled, number], [fill], "FillOptions")
    else:
        size, fill = file.ints([6, 8]), file.tensor((1, 6, 8, 2), None, Q, np.full((1, 6, 8, 2), 7))
    file.op("RESIZE_NEAREST_NEIGHBOR", [x, size], [big], "ResizeNearestNeighborOptions")
    file.op("ADD", [big, fill], [y], "AddOptions", 2)
    file.output(y)
    return file


def zero_scale(name: str, options: str) -> File:
    """Return a constant of scale 0: every value it stands for is 0."""
    file = File()
    x, y = file.input((2, 3), Q), file.tensor((2, 3), None, (0.06, -9))
    c = file.tensor((3,), np.int8, (0.0, 5), np.array([1, -2, 100]))
    file.op(name, [x, c], [y], options, 2)
    file.output(y)
    return file


FILES: dict[str, Callable[[], File]] = {
    "bytes of other scales": lambda: unsigned(WHOLE, PROBABILITY),
    "bytes of the layer's scale": lambda: unsigned(BYTES, (0.03, 124)),
    "bytes that are moved": lambda: unsigned(BYTES, PROBABILITY, flat=True),
    "no scale": lambda: unscaled(""),
    "a scale at the input": lambda: unscaled("i"),
    "a scale at the output": lambda: unscaled("io"),
    "no scale in between": lambda: unscaled("imo"),
    "no scale of int16": lambda: unscaled("", np.int16),
    "no scale before a layer": unscaled_before_a_layer,
    "no scale of a constant": joined_without_a_scale,
    "a shape of Keras": keras_reshape,
    "a product with a scale of 0": lambda: zero_scale("MUL", "MulOptions"),
}
"""Each has TFLite Micro's bits."""

MOVES: dict[str, tuple[Any, ...]] = {
    "PAD": ((2, 5, 4), "PadOptions", [[0, 0], [1, 1], [0, 0]]),
    "SLICE": ((2, 2, 4), "SliceOptions", [0, 1, 0], [2, 2, 4]),
    "TRANSPOSE": ((4, 2, 3), "TransposeOptions", [2, 0, 1]),
}
"""Arguments of `moved`, which TFLite Micro has of int8."""


def wide_softmax(shape: Sequence[int] = (4, 12), scale: float = 0.1) -> File:
    """Return 16-bit probabilities, as in keyword models of TFLite Micro."""
    file = File()
    x = file.input(shape, (scale, 3))
    y = file.tensor(shape, np.int16, (1 / 65536, -32768))
    file.op("SOFTMAX", [x], [y], "SoftmaxOptions", 2, beta=1.0)
    file.output(y)
    return file
