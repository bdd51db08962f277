# SPDX-License-Identifier: Apache-2.0
"""Calls that no kernel can run are refused with words that say what is wrong."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kernels.common.kernel import KernelError, OpCall, Value
from kernels.registry import kernel_call


def _activation(*shape: int, dtype: str = "int8", name: str = "x") -> Value:
    return Value(name, dtype, shape)


def _constant(array: Any, dtype: str = "int8") -> Value:
    elements = np.array(array, dtype)
    return Value("constant", dtype, elements.shape, elements)


def _channels(count: int) -> dict[str, Value]:
    return {
        "bias": _constant([0] * count, "int32"),
        "multiplier": _constant([2**30] * count, "int32"),
        "shift": _constant([-7] * count, "int32"),
    }


_STAGE = {"output_zero_point": 0, "activation_min": -128, "activation_max": 127}
_WINDOW = {"stride": [1, 1], "padding": [0] * 4, "dilation": [1, 1], "input_zero_point": 0}

_VALID = {
    call.op: call
    for call in [
        OpCall(
            "pl::conv2d",
            {
                "input": _activation(1, 4, 5, 6),
                "weight": _constant(np.ones((8, 3, 3, 6))),
                **_channels(8),
                **_WINDOW,
                "groups": 1,
                **_STAGE,
            },
            (_activation(1, 2, 3, 8, name="y"),),
        ),
        OpCall(
            "pl::depthwise_conv2d",
            {
                "input": _activation(1, 4, 5, 6),
                "weight": _constant(np.ones((3, 3, 6))),
                **_channels(6),
                **_WINDOW,
                **_STAGE,
            },
            (_activation(1, 2, 3, 6, name="y"),),
        ),
        OpCall(
            "pl::linear",
            {
                "input": _activation(2, 6),
                "weight": _constant(np.ones((3, 6))),
                **_channels(3),
                "input_zero_point": 0,
                **_STAGE,
            },
            (_activation(2, 3, name="y"),),
        ),
        OpCall(
            "pl::add",
            {
                "a": _activation(2, 3),
                "b": _activation(3),
                **{f"{name}_zero_point": 0 for name in "ab"},
                **{f"{name}_multiplier": 2**30 for name in "ab"},
                **{f"{name}_shift": 0 for name in "ab"},
                "left_shift": 20,
                "output_multiplier": 2**30,
                "output_shift": -18,
                **_STAGE,
            },
            (_activation(2, 3, name="y"),),
        ),
        OpCall(
            "pl::lut",
            {"input": _activation(4), "table": _constant(range(-128, 128))},
            (_activation(4, name="y"),),
        ),
        OpCall(
            "pl::max_pool2d",
            {
                "input": _activation(1, 4, 4, 2),
                "kernel": [2, 2],
                "stride": [2, 2],
                "padding": [0] * 4,
                "dilation": [1, 1],
                "output_size": [2, 2],
            },
            (_activation(1, 2, 2, 2, name="y"),),
        ),
        OpCall(
            "pl::mean",
            {
                "input": _activation(2, 8),
                "dim": [1],
                "keepdim": False,
                "input_zero_point": 0,
                "output_zero_point": 0,
                "multiplier": 2**30,
                "shift": -2,
            },
            (_activation(2, name="y"),),
        ),
        OpCall(
            "pl::softmax",
            {
                "input": _activation(2, 8),
                "exp_table": _constant([2**23] + [0] * 255, "int32"),
                "dim": 1,
            },
            (_activation(2, 8, name="y"),),
        ),
        OpCall(
            "pl::transpose",
            {"input": _activation(2, 3), "perm": [1, 0]},
            (_activation(3, 2, name="y"),),
        ),
        OpCall(
            "pl::slice",
            {"input": _activation(9), "dim": 0, "start": 1, "end": 7, "step": 2},
            (_activation(3, name="y"),),
        ),
        OpCall(
            "pl::cat",
            {"inputs": [_activation(2, 3), _activation(2, 4)], "dim": 1},
            (_activation(2, 7, name="y"),),
        ),
        OpCall(
            "pl::pad",
            {"input": _activation(2, 3), "padding": [0, 0, 1, 2], "value": 0},
            (_activation(2, 6, name="y"),),
        ),
        OpCall(
            "pl::quantize",
            {"input": _activation(4, dtype="float32"), "scale": 0.1, "zero_point": 0},
            (_activation(4, name="y"),),
        ),
        OpCall(
            "aten::bmm.out",
            {
                "self": _activation(2, 3, 4, dtype="float32"),
                "mat2": _activation(2, 4, 5, dtype="float32"),
            },
            (_activation(2, 3, 5, dtype="float32", name="y"),),
        ),
        OpCall(
            "aten::pow.Tensor_Scalar_out",
            {"self": _activation(4, dtype="float32"), "exponent": 2},
            (_activation(4, dtype="float32", name="y"),),
        ),
    ]
}


@pytest.mark.parametrize("op", _VALID)
def test_takes_valid_calls(op: str) -> None:
    for isa in ("scalar", "dsp", "mve"):
        assert kernel_call(_VALID[op], isa).function.startswith("pl_")


@pytest.mark.parametrize(
    ("op", "changes", "message"),
    [
        ("pl::conv2d", {"stride": [0, 1]}, "stride is .* at least 1"),
        ("pl::conv2d", {"stride": [1]}, "stride has 1 items, not 2"),
        ("pl::conv2d", {"padding": [1, 1, 1, 1]}, "output has shape .* it should be"),
        ("pl::conv2d", {"groups": 4}, "in 4 groups"),
        ("pl::conv2d", {"groups": 2}, "does not go with 6 input channels in 2 groups"),
        ("pl::conv2d", {"weight": _activation(8, 3, 3, 6)}, "weight must be a constant"),
        ("pl::conv2d", {"weight": _constant(np.ones((8, 9, 6)))}, "not 4 dimensions"),
        ("pl::conv2d", {"input": _activation(1, 4, 5, 6, dtype="float32")}, "float32, not int8"),
        ("pl::conv2d", {"bias": _constant([0] * 7, "int32")}, "bias has 7 entries for 8"),
        ("pl::conv2d", {"multiplier": _constant([5] * 8, "int32")}, "2\\^30"),
        ("pl::conv2d", {"multiplier": _constant([-(2**30)] * 8, "int32")}, "2\\^30"),
        ("pl::conv2d", {"shift": _constant([31] * 8, "int32")}, "shift .* is 31"),
        ("pl::conv2d", {"bias": _constant([2**31 - 1] * 8, "int32")}, "overflow int32"),
        ("pl::conv2d", {"input_zero_point": 128}, "input_zero_point is 128"),
        ("pl::conv2d", {"activation_min": 5, "activation_max": 4}, "5 is above .* 4"),
        ("pl::depthwise_conv2d", {"input": _activation(1, 4, 5, 4)}, "not a multiple of 4"),
        ("pl::linear", {"input": _activation(2, 7)}, "the last sizes differ"),
        ("pl::add", {"b": _activation(2)}, "does not broadcast"),
        ("pl::add", {"left_shift": 23}, "left_shift is 23"),
        ("pl::add", {"a_multiplier": 2**31 - 1, "a_shift": 10}, "int32 overflows"),
        ("pl::lut", {"table": _constant(range(100))}, "100 entries, not 256"),
        ("pl::lut", {"input": _activation(5)}, "5 inputs do not give 4"),
        ("pl::max_pool2d", {"padding": [2, 0, 0, 0]}, "window 0 along the rows has no tap"),
        ("pl::max_pool2d", {"output_size": [2, 3]}, "it should be"),
        ("pl::mean", {"dim": [2]}, "does not fit 2 dimensions"),
        ("pl::mean", {"keepdim": True}, "it should be \\[2, 1\\]"),
        ("pl::softmax", {"dim": -1}, "dim is -1"),
        ("pl::softmax", {"exp_table": _constant([1, 2] + [0] * 254, "int32")}, "largest"),
        ("pl::softmax", {"exp_table": _constant([2**30] + [0] * 255, "int32")}, "uint32"),
        ("pl::transpose", {"perm": [0, 0]}, "does not name each dimension"),
        ("pl::slice", {"start": 7}, "is not a range"),
        ("pl::slice", {"step": 0}, "step is 0"),
        ("pl::cat", {"dim": 0}, "does not go into"),
        ("pl::cat", {"inputs": [_activation(2, 3)]}, "3 elements along dim 1, the output 7"),
        ("pl::pad", {"padding": [0, 0, 1]}, "padding has 3 items, not 4"),
        ("pl::pad", {"padding": [0, 0, -1, 4]}, "at least 0"),
        ("pl::quantize", {"scale": 0.0}, "not a positive float32"),
        ("pl::quantize", {"scale": float("nan")}, "not a positive float32"),
        ("aten::bmm.out", {"mat2": _activation(2, 3, 5, dtype="float32")}, "does not give"),
        ("aten::pow.Tensor_Scalar_out", {"exponent": 40}, "exponents up to 16"),
        ("aten::pow.Tensor_Scalar_out", {"exponent": _activation(1)}, "'exponent' is Value"),
    ],
)
def test_refuses(op: str, changes: dict[str, Any], message: str) -> None:
    valid = _VALID[op]
    with pytest.raises(KernelError, match=message) as caught:
        kernel_call(replace(valid, args={**valid.args, **changes}), "scalar")
    assert str(caught.value).startswith(f"{op} -> 'y': ")


def test_refuses_missing_arguments() -> None:
    with pytest.raises(KernelError, match="'perm' is missing"):
        call = _VALID["pl::transpose"]
        kernel_call(replace(call, args={"input": call.args["input"]}), "scalar")


def test_refuses_unknown_ops() -> None:
    with pytest.raises(KernelError, match="no kernel for this op"):
        kernel_call(OpCall("aten::erfinv.out", {}, (_activation(1, name="y"),)), "scalar")


@pytest.mark.parametrize("shape", [(1, 2, 1, 2, 1, 2, 1), (2, 0)])
def test_refuses_shapes_without_kernels(shape: tuple[int, ...]) -> None:
    table = _VALID["pl::lut"].args["table"]
    call = OpCall(
        "pl::lut",
        {"input": _activation(*shape), "table": table},
        (_activation(*shape, name="y"),),
    )
    with pytest.raises(KernelError, match="more than 6 dimensions|empty tensors"):
        kernel_call(call, "scalar")
