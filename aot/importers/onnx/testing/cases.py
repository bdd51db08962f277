# SPDX-License-Identifier: Apache-2.0
"""One node of each operator and form, with inputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aot.importers.onnx.testing.graphs import Array, GraphCase, values

_ONE_INPUT = (
    *("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "HardSwish", "Identity", "Mish", "Neg", "Relu"),
    *("Round", "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Tan", "Tanh", "Elu", "Celu"),
    *("Selu", "ThresholdedRelu", "HardSigmoid", "LeakyRelu", "GlobalAveragePool", "GlobalMaxPool"),
    *("Flatten", "Transpose", "Softmax", "LogSoftmax", "LpNormalization", "ArgMax", "ArgMin"),
    *("ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin"),
    *("ReduceProd", "ReduceSum", "ReduceSumSquare", "Clip", "Dropout", "IsNaN"),
)
_TWO_INPUTS = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean")
_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_LOGIC = ("And", "Or", "Xor")


def ints(*numbers: int) -> list[Array]:
    """Return a constant of int64."""
    return [np.array(numbers, np.int64)]


def _pointwise() -> Iterator[GraphCase]:
    x, y = values(1, 4, 5, 6), values(1, 4, 5, 6, seed=1)
    positive = np.abs(x) + 0.1
    for name in _ONE_INPUT:
        yield GraphCase(name, [x], opset=18 if name == "Mish" else 17)
    for name in ("Log", "Sqrt", "Reciprocal", "ReduceLogSum"):
        yield GraphCase(name, [positive])
    for name in _TWO_INPUTS:
        yield GraphCase(name, [x, y])
        yield GraphCase(name, [x, [values(4, 1, 1)]])
    for name in _COMPARISONS:
        yield GraphCase(name, [np.round(x), np.round(y)])
    for name in _LOGIC:
        yield GraphCase(name, [x > 0, y > 0])
    yield GraphCase("Not", [x > 0])
    yield GraphCase("Where", [[x > 0], x, y])
    yield GraphCase("Pow", [x, [np.float32(2)]])
    yield GraphCase("Pow", [positive, [np.float32(0.5)]])
    yield GraphCase("Pow", [positive, y])
    yield GraphCase("Div", [np.arange(-6, 6), [np.array([4])]])
    yield GraphCase("Mod", [np.arange(-6, 6), [np.array([4])]])
    yield GraphCase("Mod", [x, [np.float32(0.7)]], {"fmod": 1})
    yield GraphCase("Clip", [x, [np.float32(-0.5)], [np.float32(0.5)]])
    yield GraphCase("Clip", [x, None, [np.float32(0.5)]])
    yield GraphCase("Clip", [x], {"min": -0.5, "max": 0.5}, opset=9)
    yield GraphCase("Cast", [x], {"to": 7})
    yield GraphCase("CastLike", [x, [np.zeros(1, np.int32)]])
    yield GraphCase("HardSigmoid", [x], {"alpha": 1 / 6, "beta": 0.5})
    yield GraphCase("Swish", [x], opset=24)
    yield GraphCase("Swish", [x], {"alpha": 0.5}, opset=24)
    yield GraphCase("Gelu", [x], opset=20)
    yield GraphCase("Gelu", [x], {"approximate": "tanh"}, opset=20)
    for shape in [(1,), (4, 1, 1), (4, 5, 6)]:
        yield GraphCase("PRelu", [x, [values(*shape)]])


def _layers() -> Iterator[GraphCase]:
    x, weight, bias = values(1, 4, 9, 10), values(6, 4, 3, 3), values(6)
    yield GraphCase("Conv", [x, [weight]])
    yield GraphCase("Conv", [x, [weight], [bias]], {"strides": [2, 1], "pads": [1, 0, 2, 1]})
    yield GraphCase("Conv", [x, [weight], [bias]], {"auto_pad": "SAME_UPPER", "strides": [2, 2]})
    yield GraphCase("Conv", [x, [weight], [bias]], {"auto_pad": "SAME_LOWER", "strides": [2, 2]})
    yield GraphCase("Conv", [x, [weight], [bias]], {"auto_pad": "VALID", "dilations": [2, 1]})
    yield GraphCase("Conv", [x, [values(4, 1, 3, 3)]], {"group": 4, "pads": [1, 1, 1, 1]})
    yield GraphCase("Conv", [values(1, 4, 9), [values(6, 4, 3)]], {"pads": [1, 1]})
    yield GraphCase("Conv", [values(1, 2, 4, 5, 6), [values(3, 2, 2, 2, 2)]])
    turned = values(4, 6, 3, 3)
    yield GraphCase("ConvTranspose", [x, [turned], [bias]], {"strides": [2, 2]})
    yield GraphCase("ConvTranspose", [x, [turned]], {"strides": [2, 2], "pads": [1, 0, 0, 2]})
    yield GraphCase(
        "ConvTranspose",
        [x, [turned]],
        {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]},
    )
    row = values(3, 8)
    yield GraphCase("Gemm", [row, [values(8, 5)], [values(5)]])
    yield GraphCase("Gemm", [row, [values(5, 8)], [values(1)]], {"transB": 1})
    yield GraphCase("Gemm", [row, [values(5, 8)], [values(3, 5)]], {"transB": 1, "alpha": 0.5})
    yield GraphCase("Gemm", [values(8, 3), [values(8, 5)], [values(5)]], {"transA": 1, "beta": 2.0})
    yield GraphCase("Gemm", [row, values(8, 5)])
    yield GraphCase("MatMul", [values(2, 3, 8), [values(8, 5)]])
    yield GraphCase("MatMul", [values(2, 3, 8), values(2, 8, 5)])
    yield GraphCase("MatMul", [[values(5, 3)], values(2, 3, 8)])
    yield GraphCase("Einsum", [values(2, 3, 8), values(2, 5, 8)], {"equation": "bik, bjk -> bij"})


def _recurrent() -> Iterator[GraphCase]:
    x, size = values(5, 2, 3), 4
    for name, gates, extra in (("LSTM", 4, {}), ("GRU", 3, {"linear_before_reset": 1})):
        for direction in ("forward", "reverse", "bidirectional"):
            count = 2 if direction == "bidirectional" else 1
            weights = [[values(count, gates * size, 3)], [values(count, gates * size, size)]]
            attributes = {"hidden_size": size, "direction": direction, **extra}
            outputs = 3 if name == "LSTM" else 2
            yield GraphCase(name, [x, *weights], attributes, outputs=outputs)
            states = [values(count, 2, size, seed=i) for i in range(outputs - 1)]
            bias = [values(count, 2 * gates * size)]
            yield GraphCase(name, [x, *weights, bias, None, *states], attributes, outputs=outputs)
            full = [np.array([5, 5], np.int32)]
            yield GraphCase(name, [x, *weights, bias, full], attributes, outputs=outputs)
            constant = [[state] for state in states]
            yield GraphCase(name, [x, *weights, bias, None, *constant], attributes, outputs=outputs)


def _norms() -> Iterator[GraphCase]:
    x, by_channel = values(2, 4, 5, 6), [values(4)]
    spread = [np.abs(values(4, seed=3)) + 0.5]
    yield GraphCase("BatchNormalization", [x, by_channel, by_channel, by_channel, spread])
    yield GraphCase("InstanceNormalization", [x, by_channel, by_channel])
    yield GraphCase("LayerNormalization", [x, [values(6)], [values(6)]])
    yield GraphCase("LayerNormalization", [x, [values(5, 6)]], {"axis": 2})
    yield GraphCase("RMSNormalization", [x, [values(6)]], opset=23)
    yield GraphCase("GroupNormalization", [x, by_channel, by_channel], {"num_groups": 2}, opset=21)
    yield GraphCase("LpNormalization", [x], {"axis": 1, "p": 1})
    yield GraphCase("Softmax", [x], {"axis": 1})
    yield GraphCase("Softmax", [x], {"axis": 1}, opset=11)
    yield GraphCase("Softmax", [x], {"axis": 3}, opset=11)


def _pools() -> Iterator[GraphCase]:
    x = values(1, 3, 9, 11)
    square = {"kernel_shape": [3, 3], "strides": [2, 2]}
    for name in ("MaxPool", "AveragePool"):
        yield GraphCase(name, [x], square)
        yield GraphCase(name, [x], {**square, "pads": [1, 1, 1, 1]})
        yield GraphCase(name, [x], {**square, "pads": [0, 0, 1, 1]})
        yield GraphCase(name, [x], {**square, "pads": [2, 2, 2, 2]})
        yield GraphCase(name, [x], {**square, "auto_pad": "SAME_UPPER"})
        yield GraphCase(name, [x], {**square, "ceil_mode": 1})
        yield GraphCase(name, [values(1, 3, 12)], {"kernel_shape": [4]})
    yield GraphCase("MaxPool", [x], {**square, "dilations": [2, 2]})
    yield GraphCase("AveragePool", [x], {**square, "pads": [0, 0, 1, 1], "count_include_pad": 1})


def _movement() -> Iterator[GraphCase]:
    x = values(2, 4, 6, 6)
    yield GraphCase("Reshape", [x, ints(0, -1, 3)])
    yield GraphCase("Flatten", [x], {"axis": -2})
    yield GraphCase("Transpose", [x], {"perm": [0, 2, 3, 1]})
    yield GraphCase("Squeeze", [values(1, 3, 1, 4)])
    yield GraphCase("Squeeze", [values(1, 3, 1, 4), ints(-2)])
    yield GraphCase("Squeeze", [values(1, 3, 1, 4)], {"axes": [0]}, opset=11)
    yield GraphCase("Unsqueeze", [x, ints(-1, 0)])
    yield GraphCase("Unsqueeze", [x], {"axes": [1]}, opset=11)
    yield GraphCase("Concat", [x, values(2, 1, 6, 6), [values(2, 2, 6, 6)]], {"axis": 1})
    yield GraphCase("Split", [x, ints(1, 3)], {"axis": 1}, outputs=2)
    yield GraphCase("Split", [x], {"axis": 2}, outputs=3)
    yield GraphCase("Split", [values(2, 7)], {"axis": 1, "num_outputs": 3}, opset=18, outputs=3)
    yield GraphCase("Slice", [x, ints(1, -4), ints(99, -1), ints(1, 3), ints(2, 1)])
    yield GraphCase("Slice", [x, ints(-1), ints(-(2**31)), ints(2), ints(-1)])
    yield GraphCase("Slice", [x, ints(4), ints(0), ints(2), ints(-2)])
    yield GraphCase("Slice", [x], {"starts": [1], "ends": [3], "axes": [2]}, opset=9)
    for indices in (np.int64(-1), np.array([1, 2, 3]), np.array([[3, 0], [-1, 1]])):
        yield GraphCase("Gather", [x, [np.asarray(indices, np.int64)]], {"axis": 1})
    yield GraphCase("Gather", [[values(9, 4)], np.array([[1, 8, 0]])])
    yield GraphCase("GatherElements", [x, [np.full((2, 1, 6, 6), -2, np.int64)]], {"axis": 1})
    yield GraphCase("ScatterND", [x, ints(0, 1), values(6, 6)])
    yield GraphCase("Expand", [values(2, 1, 3), ints(2, 4, 1)])
    yield GraphCase("Tile", [x, ints(1, 2, 1, 3)])
    yield GraphCase("Pad", [x, ints(0, 0, 1, 2, 0, 0, 3, 1)])
    yield GraphCase("Pad", [x, ints(0, 1, 1, 0, 0, 0, 0, 0), [np.float32(-1.5)]])
    yield GraphCase("Pad", [x, ints(0, 0, 1, 2, 0, 0, 3, 1)], {"mode": "reflect"})
    yield GraphCase("Pad", [x, ints(0, 0, 1, 2, 0, 0, 3, 1)], {"mode": "edge"})
    yield GraphCase("Pad", [x, ints(1, 2), None, ints(-1)], opset=18)
    yield GraphCase("Pad", [x], {"pads": [0, 0, 1, 1, 0, 0, 1, 1]}, opset=9)
    yield GraphCase("DepthToSpace", [x], {"blocksize": 2})
    yield GraphCase("DepthToSpace", [x], {"blocksize": 2, "mode": "CRD"})
    yield GraphCase("SpaceToDepth", [x], {"blocksize": 3})
    yield GraphCase("Trilu", [x, ints(1)])
    yield GraphCase("Trilu", [x], {"upper": 0})
    yield GraphCase("CumSum", [x, [np.int64(2)]])
    yield GraphCase("OneHot", [np.array([1, -1, 3]), ints(5), [np.array([0.5, 2], np.float32)]])
    axes = {"axes": [1, 2], "keepdims": 0}
    yield GraphCase("ReduceMean", [x], axes)
    yield GraphCase("ReduceMean", [x, ints(-1)], {"keepdims": 0}, opset=18)
    yield GraphCase("ReduceProd", [x], axes)
    yield GraphCase("ReduceSum", [x], {"noop_with_empty_axes": 1})


def _resizing() -> Iterator[GraphCase]:
    x = values(1, 3, 5, 6)
    twice, sizes = [np.array([1, 1, 2, 2], np.float32)], ints(1, 3, 7, 9)
    yield GraphCase("Resize", [x, None, twice])
    yield GraphCase("Resize", [x, twice], opset=10)
    yield GraphCase("Upsample", [x, twice], opset=9)
    floor = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    yield GraphCase("Resize", [x, None, None, sizes], floor)
    yield GraphCase("Resize", [x, None, twice], {"mode": "linear"})
    for place in ("half_pixel", "pytorch_half_pixel", "align_corners"):
        attributes = {"mode": "linear", "coordinate_transformation_mode": place}
        yield GraphCase("Resize", [x, None, None, sizes], attributes)


CASES = [
    *_pointwise(),
    *_layers(),
    *_recurrent(),
    *_norms(),
    *_pools(),
    *_movement(),
    *_resizing(),
]
