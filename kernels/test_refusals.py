# SPDX-License-Identifier: Apache-2.0
"""Calls that no kernel can run are refused with words that say what is wrong."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kernels.common.kernel import KERNELS, KernelError, OpCall
from kernels.registry import kernel_call
from kernels.testing.valid_calls import VALID, activation, constant, floats

# An op, arguments in place of those of its valid call, and what the message says.
_REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("pl::conv2d", {"stride": [0, 1]}, "stride is .* at least 1"),
    ("pl::conv2d", {"stride": [1]}, "stride has 1 items, not 2"),
    ("pl::conv2d", {"padding": [1, 1, 1, 1]}, "output has shape .* it should be"),
    ("pl::conv2d", {"groups": 4}, "in 4 groups"),
    ("pl::conv2d", {"groups": 2}, "does not go with 6 input channels in 2 groups"),
    ("pl::conv2d", {"weight": activation(8, 3, 3, 6)}, "weight must be a constant"),
    ("pl::conv2d", {"weight": constant(np.ones((8, 9, 6)))}, "not 4 dimensions"),
    ("pl::conv2d", {"input": activation(1, 4, 5, 6, dtype="float32")}, "float32, not int8"),
    ("pl::conv2d", {"bias": constant([0] * 7, "int32")}, "bias has 7 entries for 8"),
    ("pl::conv2d", {"multiplier": constant([5] * 8, "int32")}, "2\\^30"),
    ("pl::conv2d", {"multiplier": constant([-(2**30)] * 8, "int32")}, "2\\^30"),
    ("pl::conv2d", {"shift": constant([31] * 8, "int32")}, "shift .* is 31"),
    ("pl::conv2d", {"bias": constant([2**31 - 1] * 8, "int32")}, "overflow int32"),
    ("pl::conv2d", {"input_zero_point": 128}, "input_zero_point is 128"),
    ("pl::conv2d", {"activation_min": 5, "activation_max": 4}, "5 is above .* 4"),
    ("pl::depthwise_conv2d", {"input": activation(1, 4, 5, 4)}, "not a multiple of 4"),
    ("pl::linear", {"input": activation(2, 7)}, "the last sizes differ"),
    ("pl::add", {"b": activation(2)}, "does not broadcast"),
    ("pl::add", {"left_shift": 23}, "left_shift is 23"),
    ("pl::add", {"a_multiplier": 2**31 - 1, "a_shift": 10}, "int32 overflows"),
    ("pl::lut", {"table": constant(range(100))}, "100 entries, not 256"),
    ("pl::lut", {"input": activation(5)}, "5 inputs do not give 4"),
    ("pl::max_pool2d", {"padding": [2, 0, 0, 0]}, "window 0 along the rows has no tap"),
    ("pl::max_pool2d", {"output_size": [2, 3]}, "it should be"),
    ("pl::mean", {"dim": [2]}, "does not fit 2 dimensions"),
    ("pl::mean", {"keepdim": True}, "it should be \\[2, 1\\]"),
    ("pl::softmax", {"dim": -1}, "dim is -1"),
    ("pl::softmax", {"exp_table": constant([1, 2] + [0] * 254, "int32")}, "largest"),
    ("pl::softmax", {"exp_table": constant([2**30] + [0] * 255, "int32")}, "uint32"),
    ("pl::transpose", {"perm": [0, 0]}, "does not name each dimension"),
    ("pl::transpose", {"input": activation(2, 3, dtype="int16")}, "input is int16; there are"),
    ("pl::slice", {"start": 7}, "is not a range"),
    ("pl::slice", {"step": 0}, "step is 0"),
    ("pl::cat", {"dim": 0}, "does not go into"),
    ("pl::cat", {"inputs": [activation(2, 3)]}, "3 elements along dim 1, the output 7"),
    ("pl::pad", {"padding": [0, 0, 1]}, "padding has 3 items, not 4"),
    ("pl::pad", {"padding": [0, 0, -1, 4]}, "at least 0"),
    ("pl::quantize", {"scale": 0.0}, "not a positive float32"),
    ("pl::quantize", {"scale": float("nan")}, "not a positive float32"),
    ("aten::bmm.out", {"mat2": activation(2, 3, 5, dtype="float32")}, "does not give"),
    ("aten::pow.Tensor_Scalar_out", {"exponent": 40}, "exponents up to 16"),
    ("aten::pow.Tensor_Scalar_out", {"exponent": activation(1)}, "'exponent' is Value"),
    ("pl::mul", {"b": activation(2)}, "does not broadcast"),
    ("pl::mul", {"shift": -32}, "shift .* is -32"),
    ("pl::mul", {"activation_max": 128}, "activation_max is 128"),
    ("pl::avg_pool2d", {"kernel": [0, 2]}, "kernel is .* at least 1"),
    ("pl::avg_pool2d", {"divisor_override": 2**24}, "int32 overflows"),
    ("pl::avg_pool2d", {"zero_point": -129}, "zero_point is -129"),
    ("pl::adaptive_avg_pool2d", {"output_size": [3, 3]}, "it should be"),
    ("pl::adaptive_avg_pool2d", {"input": activation(5, 4, 2)}, "not 4 dimensions"),
    ("pl::adaptive_max_pool2d", {"output_size": [0, 3]}, "at least 1"),
    ("pl::log_softmax", {"fraction_bits": 22}, "not 2\\^fraction_bits with 22 bits"),
    ("pl::log_softmax", {"log_multiplier": -(2**30)}, "2\\^30"),
    ("pl::log_softmax", {"input": activation(2, 7)}, "it should be \\[2, 7\\]"),
    ("pl::dequantize", {"scale": -0.1}, "not a positive number"),
    ("pl::dequantize", {"input": activation(5)}, "5 inputs do not give 4"),
    ("aten::div.out", {"other": activation(3)}, "other is int8, not float32"),
    ("aten::minimum.out", {"other": floats(2)}, "does not broadcast"),
    ("aten::maximum.out", {"self": 2.0}, "'self' is float"),
    ("aten::sum.IntList_out", {"dim": [2]}, "does not fit 2 dimensions"),
    ("aten::amax.out", {"keepdim": True}, "it should be \\[2, 1\\]"),
    ("aten::amin.out", {"self": activation(2, 8)}, "self is int8, not float32"),
    ("aten::native_layer_norm.out", {"normalized_shape": [4]}, "does not end in"),
    ("aten::native_layer_norm.out", {"bias": activation(8)}, "bias is int8"),
    ("aten::native_group_norm.out", {"group": 3}, "in 3 groups"),
    ("aten::native_group_norm.out", {"bias": floats(3)}, "not 4"),
]


def test_every_op_has_a_valid_call_and_refused_ones() -> None:
    assert VALID.keys() == KERNELS.keys() == {op for op, _, _ in _REFUSED}


@pytest.mark.parametrize("op", VALID)
def test_takes_valid_calls(op: str) -> None:
    for isa in ("scalar", "dsp", "mve"):
        assert kernel_call(VALID[op], isa).function.startswith("pl_")


@pytest.mark.parametrize(("op", "changes", "message"), _REFUSED)
def test_refuses(op: str, changes: dict[str, Any], message: str) -> None:
    valid = VALID[op]
    with pytest.raises(KernelError, match=message) as caught:
        kernel_call(replace(valid, args={**valid.args, **changes}), "scalar")
    assert str(caught.value).startswith(f"{op} -> 'y'")


def test_refuses_missing_arguments() -> None:
    with pytest.raises(KernelError, match="'perm' is missing"):
        call = VALID["pl::transpose"]
        kernel_call(replace(call, args={"input": call.args["input"]}), "scalar")


def test_refuses_unknown_ops() -> None:
    with pytest.raises(KernelError, match="no kernel for this op"):
        kernel_call(OpCall("aten::erfinv.out", {}, (activation(1, name="y"),)), "scalar")


@pytest.mark.parametrize("shape", [(1, 2, 1, 2, 1, 2, 1), (2, 0)])
def test_refuses_shapes_without_kernels(shape: tuple[int, ...]) -> None:
    table = VALID["pl::lut"].args["table"]
    call = OpCall(
        "pl::lut",
        {"input": activation(*shape), "table": table},
        (activation(*shape, name="y"),),
    )
    with pytest.raises(KernelError, match="more than 6 dimensions|empty tensors"):
        kernel_call(call, "scalar")
