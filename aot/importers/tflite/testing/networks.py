# SPDX-License-Identifier: Apache-2.0
"""Small networks as files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aot.importers.tflite.testing.build import RESOURCE, File, Quantized


def network(dead: Sequence[int] = ()) -> File:
    """Return a separable convolution with a skip, a pooled head and a softmax.

    Args:
      dead: channels with weights of 0 in both convolutions.
    """
    random, file = np.random.default_rng(3), File()
    of_x: Quantized = (0.03, -4)

    def weights(
        shape: tuple[int, ...], axis: int, of: Quantized, zeros: Sequence[int] = ()
    ) -> tuple[int, int]:
        scales = [float(np.float32(s)) for s in random.uniform(0.002, 0.01, shape[axis])]
        w = random.integers(-128, 128, shape)
        np.moveaxis(w, axis, 0)[list(zeros)] = 0
        b = random.integers(-500, 500, shape[axis])
        return (
            file.tensor(shape, data=w, scales=scales, axis=axis),
            file.tensor(b.shape, np.int32, data=b, scales=[of[0] * s for s in scales]),
        )

    window = {"padding": 0, "strideH": 1, "strideW": 1}
    dilation = {"dilationHFactor": 1, "dilationWFactor": 1}
    x = file.input((1, 12, 10, 3), of_x)
    of_a: Quantized = (0.12, -128)
    w, b = weights((8, 3, 3, 3), 0, of_x, dead)
    a = file.tensor((1, 6, 5, 8), np.int8, of_a)
    steps = {**window, "strideH": 2, "strideW": 2}
    relu = {"fusedActivationFunction": 1}
    file.op("CONV_2D", [x, w, b], [a], "Conv2DOptions", 3, **steps, **dilation, **relu)
    of_d: Quantized = (0.2, 9)
    w, b = weights((1, 3, 3, 8), 3, of_a, dead)
    d = file.tensor((1, 6, 5, 8), np.int8, of_d)
    fields = {**window, **dilation, "depthMultiplier": 1}
    file.op("DEPTHWISE_CONV_2D", [a, w, b], [d], "DepthwiseConv2DOptions", 3, **fields)
    of_s: Quantized = (0.25, -20)
    s = file.tensor((1, 6, 5, 8), np.int8, of_s)
    file.op("ADD", [a, d], [s], "AddOptions", 2, **relu)
    of_m: Quantized = (0.1, -100)
    m = file.tensor((1, 8), np.int8, of_m)
    file.op("MEAN", [s, file.ints([1, 2])], [m], "ReducerOptions", 2, keepDims=False)
    of_y: Quantized = (0.09, 11)
    w, b = weights((5, 8), 0, of_m)
    y = file.tensor((1, 5), np.int8, of_y)
    file.op("FULLY_CONNECTED", [m, w, b], [y], "FullyConnectedOptions", 5)
    p = file.tensor((1, 5), np.int8, (1 / 256, -128))
    file.op("SOFTMAX", [y], [p], "SoftmaxOptions", 2, beta=1.0)
    file.output(p)
    return file


def streaming(initialized: bool = True) -> File:
    """Return the last four frames of 6 values, in a variable, and their mean."""
    file, q = File(), (0.05, 3 if initialized else 0)
    frame = file.input((1, 1, 6), q)
    handle = file.tensor((), RESOURCE)
    if initialized:
        file.op("CALL_ONCE", [], [], "CallOnceOptions", initSubgraphIndex=1)
    file.op("VAR_HANDLE", [], [handle], "VarHandleOptions", container=b"", sharedName=b"frames")
    old = file.tensor((1, 3, 6), np.int8, q)
    file.op("READ_VARIABLE", [handle], [old], "ReadVariableOptions")
    window = file.tensor((1, 4, 6), np.int8, q)
    fields = {"axis": 1, "fusedActivationFunction": 0}
    file.op("CONCATENATION", [old, frame], [window], "ConcatenationOptions", 2, **fields)
    new = file.tensor((1, 3, 6), np.int8, q)
    begin, size = file.ints([0, 1, 0]), file.ints([1, 3, 6])
    file.op("SLICE", [window, begin, size], [new], "SliceOptions", 2)
    file.op("ASSIGN_VARIABLE", [handle, new], [], "AssignVariableOptions")
    mean = file.tensor((1, 6), np.int8, q)
    file.op("MEAN", [window, file.ints([1])], [mean], "ReducerOptions", 2, keepDims=False)
    file.output(mean)
    if initialized:
        file.graph()
        inner = file.tensor((), RESOURCE)
        values = np.arange(18).reshape(1, 3, 6) * 5 - 40
        first = file.tensor((1, 3, 6), np.int8, q, values)
        file.op("VAR_HANDLE", [], [inner], "VarHandleOptions", container=b"", sharedName=b"frames")
        file.op("ASSIGN_VARIABLE", [inner, first], [], "AssignVariableOptions")
    return file
