# SPDX-License-Identifier: Apache-2.0
"""Quantized files, op by op from equal inputs, against onnxruntime in float arithmetic.

The dialect rounds products twice, as TFLite does, and onnxruntime once.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from aot.errors import LoweringError
from aot.importers.onnx.module import onnx_module
from aot.importers.onnx.testing.cases import ints
from aot.importers.onnx.testing.graphs import Array, GraphCase, file, values
from aot.importers.onnx.testing.oracle import session
from aot.importers.onnx.testing.quantized import (
    agreement,
    integers_by_dialect,
    quantized,
)
from aot.lower_onnx import lower_onnx
from aot.onnx_import import import_quantized
from aot.targets import target_named

_X = values(1, 16, 24, 24)
_POSITIVE = np.abs(values(1, 256, 14, 14))
_ROW = values(64, 128)

# Least share of equal integers.
_LAYER, _PRODUCT, _MEAN, _EXACT = 0.991, 0.979, 0.957, 1.0

_CASES = [
    (
        GraphCase("Conv", [_X, [values(24, 16, 3, 3) / 4], [values(24)]], {"pads": [1, 1, 1, 1]}),
        _LAYER,
    ),
    (GraphCase("Conv", [_X, [values(16, 1, 3, 3)]], {"group": 16, "strides": [2, 2]}), _LAYER),
    (
        GraphCase("ConvTranspose", [_X, [values(16, 8, 2, 2)], [values(8)]], {"strides": [2, 2]}),
        _LAYER,
    ),
    (GraphCase("Gemm", [_ROW, [values(96, 128) / 9], [values(96)]], {"transB": 1}), _PRODUCT),
    (GraphCase("MatMul", [_ROW, [values(128, 96) / 9]]), _PRODUCT),
    (GraphCase("MatMul", [values(2, 40, 64), values(2, 64, 40)]), _PRODUCT),
    (GraphCase("Mul", [_X, values(1, 16, 24, 24, seed=1)]), _PRODUCT),
    (GraphCase("Mul", [_X, [values(16, 1, 1)]]), _PRODUCT),
    (GraphCase("Add", [_X, values(1, 16, 24, 24, seed=1)]), _EXACT),
    (GraphCase("Add", [_X, [values(16, 1, 1)]]), _EXACT),
    (GraphCase("GlobalAveragePool", [_POSITIVE]), _MEAN),
    (GraphCase("ReduceMean", [_POSITIVE], {"axes": [2, 3]}), _MEAN),
    (GraphCase("AveragePool", [_X], {"kernel_shape": [2, 2], "strides": [2, 2]}), _MEAN),
    (GraphCase("Sigmoid", [_X]), _EXACT),
    (GraphCase("Tanh", [_X]), _EXACT),
    (GraphCase("LeakyRelu", [_X], {"alpha": 0.1}), _EXACT),
    (GraphCase("Relu", [_X]), _EXACT),
    (GraphCase("HardSwish", [_X]), _EXACT),
    (GraphCase("Concat", [_X, values(1, 16, 24, 24, seed=1) * 2], {"axis": 1}), _EXACT),
    (GraphCase("MaxPool", [_X], {"kernel_shape": [2, 2], "strides": [2, 2]}), _EXACT),
    (GraphCase("Transpose", [_X], {"perm": [0, 2, 3, 1]}), _EXACT),
    (GraphCase("Reshape", [_X, ints(1, -1)]), _EXACT),
    (GraphCase("Slice", [_X, ints(1), ints(9), ints(2)]), _EXACT),
    (GraphCase("Split", [_X, ints(4, 12)], {"axis": 1}, outputs=2), _EXACT),
    (GraphCase("Resize", [_X, None, [np.array([1, 1, 2, 2], np.float32)]]), _EXACT),
    (GraphCase("Softmax", [_ROW]), 0.999),
]


@pytest.mark.parametrize(("case", "least"), _CASES, ids=lambda x: getattr(x, "operator", None))
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_one_op(case: GraphCase, least: float, dtype: type) -> None:
    share, steps = agreement(quantized(case, dtype), case.feeds)
    assert share >= least and steps <= 1


@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
@pytest.mark.parametrize(("case", "least"), _CASES[:5], ids=lambda x: getattr(x, "operator", None))
def test_one_layer_of_16_bits(case: GraphCase, least: float, dtype: type) -> None:
    _, steps = agreement(quantized(case, dtype), case.feeds)
    assert steps <= 1


_POINTS: dict[str, Array] = {
    "x_s": np.array(0.05, np.float32),
    "x_z": np.array(3, np.int8),
    "w_s": np.array([0.01, 0.02, 0.03, 0.04], np.float32),
    "w_z": np.zeros(4, np.int8),
    "y_s": np.array(0.07, np.float32),
    "y_z": np.array(-5, np.int8),
}
_QUANTIZED_X = ["x", "x_s", "x_z"]
_QUANTIZED_Y = ["y_s", "y_z"]
_INTEGERS = np.random.default_rng(0).integers(-100, 100, (4, 3, 8, 8)).astype(np.int8)
_CONV = [*_QUANTIZED_X, "w", "w_s", "w_z", *_QUANTIZED_Y, "b"]
_INTEGER_OPS: list[tuple[str, list[str], dict[str, Array], tuple[int, ...]]] = [
    ("QLinearConv", _CONV, {"w": _INTEGERS, "b": np.arange(4, dtype=np.int32)}, (1, 3, 16, 16)),
    (
        "QLinearMatMul",
        [*_QUANTIZED_X, "w", "w_s", "w_z", *_QUANTIZED_Y],
        {"w": _INTEGERS.reshape(192, 4)},
        (16, 192),
    ),
    ("QLinearAdd", [*_QUANTIZED_X, *_QUANTIZED_X, *_QUANTIZED_Y], {}, (1, 3, 8)),
    ("QLinearMul", [*_QUANTIZED_X, *_QUANTIZED_X, *_QUANTIZED_Y], {}, (1, 3, 8)),
    ("QLinearSigmoid", [*_QUANTIZED_X, *_QUANTIZED_Y], {}, (1, 3, 8)),
    ("QLinearLeakyRelu", [*_QUANTIZED_X, *_QUANTIZED_Y], {}, (1, 3, 8)),
    ("QLinearGlobalAveragePool", [*_QUANTIZED_X, *_QUANTIZED_Y], {}, (1, 99, 20, 20)),
]


@pytest.mark.parametrize(("kind", "names", "constants", "shape"), _INTEGER_OPS)
def test_operators_on_integers(
    kind: str, names: list[str], constants: dict[str, Array], shape: tuple[int, ...]
) -> None:
    """An operator on integers, with an input of integers."""
    domain = "" if kind in ("QLinearConv", "QLinearMatMul") else "com.microsoft"
    nodes = [
        helper.make_node("Identity", ["x"], ["moved"]),
        helper.make_node(kind, names, ["q"], "node", domain=domain),
        helper.make_node("DequantizeLinear", ["q", *_QUANTIZED_Y], ["y"]),
        helper.make_node("DequantizeLinear", ["moved", *_QUANTIZED_X[1:]], ["z"]),
    ]
    data = file(nodes, {"x": shape}, ["y", "z"], _POINTS | constants, kind=TensorProto.INT8)
    x = np.random.default_rng(0).integers(-128, 128, shape).astype(np.int8)
    (wanted, _) = session(data).run(None, {"x": x})
    real = (x.astype(np.float32) - 3) * np.float32(0.05)
    given = integers_by_dialect(data, {"x": real})[0]
    steps = np.abs(np.rint(wanted / np.float32(0.07)) - 5 - given)
    assert steps.max() <= 1 and (steps == 0).mean() > 0.9


def test_moves_of_integers_keep_them() -> None:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", *_QUANTIZED_X[1:]], ["q"]),
        helper.make_node("Transpose", ["q"], ["t"], perm=[0, 3, 1, 2]),
        helper.make_node("MaxPool", ["t"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Pad", ["m", "sizes", "value"], ["p"]),
        helper.make_node("DequantizeLinear", ["p", *_QUANTIZED_X[1:]], ["y"]),
    ]
    constants = {"sizes": np.array([0, 0, 1, 1, 0, 0, 1, 1]), "value": np.array(3, np.int8)}
    data = file(nodes, {"x": (1, 8, 6, 4)}, ["y"], _POINTS | constants)
    assert agreement(data, {"x": values(1, 8, 6, 4) * 3}) == (1.0, 0)


def test_a_move_outside_of_quantization_becomes_int8() -> None:
    """Quantizers put nodes around layers, not around the reshapes between them."""
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["r"]),
        helper.make_node("QuantizeLinear", ["r", *_QUANTIZED_X[1:]], ["q"]),
        helper.make_node("DequantizeLinear", ["q", *_QUANTIZED_X[1:]], ["d"]),
        helper.make_node("Transpose", ["d"], ["t"], perm=[0, 2, 1]),
        helper.make_node("Add", ["t", "one"], ["a"]),
        helper.make_node("QuantizeLinear", ["a", *_QUANTIZED_Y], ["aq"]),
        helper.make_node("DequantizeLinear", ["aq", *_QUANTIZED_Y], ["y"]),
    ]
    constants = {"shape": np.array([1, 3, 8]), "one": values(3)}
    data = file(nodes, {"x": (1, 24)}, ["y"], _POINTS | constants)
    lowered = lower_onnx(data)
    kinds = sorted(op["op"] for op in lowered.report["ops"])
    assert kinds == ["pl.add", "pl.reshape", "pl.transpose"]
    assert lowered.report["inputs"][0]["dtype"] == "int8"
    share, steps = agreement(data, {"x": values(1, 24) * 3})
    assert share >= 0.9 and steps <= 1


def test_float_part_of_the_file_stays_float() -> None:
    case = GraphCase("Relu", [values(1, 8)])
    softmax = helper.make_node("Softmax", ["y0"], ["s"], "last")
    model = onnx.load_model_from_string(quantized(case))
    model.graph.node.append(softmax)
    model.graph.output[0].name = "s"
    lowered = lower_onnx(model.SerializeToString())
    assert "last (Softmax)" in {op["module"] for op in lowered.report["ops"]}
    x = values(1, 8)
    (wanted,) = session(model.SerializeToString()).run(None, {"x0": x})
    (given,) = lowered.reference([torch.from_numpy(x)])
    assert np.allclose(given.numpy(), wanted, atol=1e-6)


def test_every_digit_of_a_bias() -> None:
    """A bias of int32 has more digits than float32."""
    case = GraphCase("Gemm", [values(1, 4), [values(3, 4)], [values(3)]], {"transB": 1})
    model = onnx.load_model_from_string(quantized(case))
    bias = np.array([2**28 + 1, -(2**27) - 3, 2**25 + 7], np.int32)
    for tensor in model.graph.initializer:
        if tensor.name == "x2_q":
            tensor.CopyFrom(numpy_helper.from_array(bias, "x2_q"))
    folded = import_quantized(model.SerializeToString(), target_named("cortex-m"))[2]
    held = [b for b in folded.buffers() if b.dtype is torch.int32 and b.numel() == 3]
    assert any(np.array_equal(b.numpy(), bias) for b in held)


def _refusal(data: bytes) -> str:
    with pytest.raises(LoweringError) as error:
        lower_onnx(data)
    return str(error.value)


def test_refusals() -> None:
    assert "is not quantized" in _refusal(GraphCase("Relu", [values(1, 4)]).bytes())
    with pytest.raises(LoweringError, match="is quantized; lower it with lower_onnx"):
        onnx_module(quantized(GraphCase("Relu", [values(1, 4)])))
    case = GraphCase("Gemm", [values(1, 4), [values(3, 4)], [values(3)]], {"transB": 1})
    model = onnx.load_model_from_string(quantized(case))
    model.graph.initializer.append(numpy_helper.from_array(np.ones(3, np.int8), "w_z"))
    for node in model.graph.node:
        if node.output[0] == "x1_d":
            node.input.append("w_z")
    text = _refusal(model.SerializeToString())
    assert "its weights have a zero point\n    at node (Linear)" in text
