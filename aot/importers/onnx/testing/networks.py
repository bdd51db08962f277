# SPDX-License-Identifier: Apache-2.0
"""Small whole networks as .onnx files."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from aot.importers.onnx.testing.graphs import file, values

node = helper.make_node


def classifier() -> bytes:
    """Return a convolution, a reshape by shape arithmetic, and a linear layer as MatMul and Add."""
    return file(
        [
            node("Conv", ["x", "w", "b"], ["a"], "/net/conv.1/Conv", pads=[1, 1, 1, 1]),
            node("Relu", ["a"], ["r"], "relu"),
            node("MaxPool", ["r"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
            node("Shape", ["p"], ["s"]),
            node("Gather", ["s", "zero"], ["batch"]),
            node("Unsqueeze", ["batch", "axis"], ["batches"]),
            node("Concat", ["batches", "rest"], ["shape"], axis=0),
            node("Reshape", ["p", "shape"], ["f"], "flat"),
            node("MatMul", ["f", "m"], ["product"], "fc"),
            node("Add", ["product", "mb"], ["y"], "fc_bias"),
        ],
        {"x": ["batch", 3, "height", 8]},
        ["y"],
        {
            "w": values(8, 3, 3, 3),
            "b": values(8),
            "zero": np.array(0),
            "axis": np.array([0]),
            "rest": np.array([-1]),
            "m": values(128, 10) / 10,
            "mb": values(10),
        },
    )


def by_rate() -> bytes:
    """Return two branches; the input `rate` selects one."""
    left = helper.make_graph(
        [node("Mul", ["x", "two"], ["l"], "left")],
        "left",
        [],
        [helper.make_tensor_value_info("l", TensorProto.FLOAT, None)],
    )
    right = helper.make_graph(
        [node("Neg", ["x"], ["r"], "right")],
        "right",
        [],
        [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
    )
    return file(
        [
            node("Equal", ["rate", "sixteen"], ["is"]),
            node("If", ["is"], ["z"], "choice", then_branch=left, else_branch=right),
            node("Relu", ["z"], ["y"], "relu"),
        ],
        {"x": [1, 4], "rate": [1]},
        ["y"],
        {"two": np.array(2, np.float32), "sixteen": np.array([16], np.float32)},
    )


def stream() -> bytes:
    """Return a cell with its state as input `h` and output `hn`."""
    return file(
        [
            node("Concat", ["x", "h"], ["joined"], axis=1),
            node("MatMul", ["joined", "m"], ["sums"], "fc"),
            node("Tanh", ["sums"], ["hn"], "cell"),
            node("Relu", ["hn"], ["y"], "out"),
        ],
        {"x": [1, 3], "h": [1, 5]},
        ["y", "hn"],
        {"m": values(8, 5)},
    )
