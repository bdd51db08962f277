# SPDX-License-Identifier: Apache-2.0
"""A call of every op that its kernels take: what test_refusals.py makes one argument wrong of."""

from typing import Any

import numpy as np

from kernels.common.kernel import OpCall, Value


def activation(*shape: int, dtype: str = "int8", name: str = "x") -> Value:
    return Value(name, dtype, shape)


def constant(array: Any, dtype: str = "int8") -> Value:
    elements = np.array(array, dtype)
    return Value("constant", dtype, elements.shape, elements)


def _channels(count: int) -> dict[str, Value]:
    return {
        "bias": constant([0] * count, "int32"),
        "multiplier": constant([2**30] * count, "int32"),
        "shift": constant([-7] * count, "int32"),
    }


def floats(*shape: int, name: str = "x") -> Value:
    return activation(*shape, dtype="float32", name=name)


_STAGE = {"output_zero_point": 0, "activation_min": -128, "activation_max": 127}
_WINDOW = {"stride": [1, 1], "padding": [0] * 4, "dilation": [1, 1], "input_zero_point": 0}

VALID = {
    call.op: call
    for call in [
        OpCall(
            "pl::conv2d",
            {
                "input": activation(1, 4, 5, 6),
                "weight": constant(np.ones((8, 3, 3, 6))),
                **_channels(8),
                **_WINDOW,
                "groups": 1,
                **_STAGE,
            },
            (activation(1, 2, 3, 8, name="y"),),
        ),
        OpCall(
            "pl::depthwise_conv2d",
            {
                "input": activation(1, 4, 5, 6),
                "weight": constant(np.ones((3, 3, 6))),
                **_channels(6),
                **_WINDOW,
                **_STAGE,
            },
            (activation(1, 2, 3, 6, name="y"),),
        ),
        OpCall(
            "pl::linear",
            {
                "input": activation(2, 6),
                "weight": constant(np.ones((3, 6))),
                **_channels(3),
                "input_zero_point": 0,
                **_STAGE,
            },
            (activation(2, 3, name="y"),),
        ),
        OpCall(
            "pl::add",
            {
                "a": activation(2, 3),
                "b": activation(3),
                **{f"{name}_zero_point": 0 for name in "ab"},
                **{f"{name}_multiplier": 2**30 for name in "ab"},
                **{f"{name}_shift": 0 for name in "ab"},
                "left_shift": 20,
                "output_multiplier": 2**30,
                "output_shift": -18,
                **_STAGE,
            },
            (activation(2, 3, name="y"),),
        ),
        OpCall(
            "pl::mul",
            {
                "a": activation(2, 3),
                "b": activation(3),
                "a_zero_point": 0,
                "b_zero_point": 0,
                "multiplier": 2**30,
                "shift": -7,
                **_STAGE,
            },
            (activation(2, 3, name="y"),),
        ),
        OpCall(
            "pl::lut",
            {"input": activation(4), "table": constant(range(-128, 128))},
            (activation(4, name="y"),),
        ),
        OpCall(
            "pl::max_pool2d",
            {
                "input": activation(1, 4, 4, 2),
                "kernel": [2, 2],
                "stride": [2, 2],
                "padding": [0] * 4,
                "dilation": [1, 1],
                "output_size": [2, 2],
            },
            (activation(1, 2, 2, 2, name="y"),),
        ),
        OpCall(
            "pl::avg_pool2d",
            {
                "input": activation(1, 4, 4, 2),
                "kernel": [2, 2],
                "stride": [2, 2],
                "padding": [0] * 4,
                "output_size": [2, 2],
                "count_include_pad": True,
                "divisor_override": 0,
                "zero_point": 0,
            },
            (activation(1, 2, 2, 2, name="y"),),
        ),
        *(
            OpCall(
                f"pl::adaptive_{kind}_pool2d",
                {"input": activation(1, 5, 4, 2), "output_size": [2, 3]},
                (activation(1, 2, 3, 2, name="y"),),
            )
            for kind in ("avg", "max")
        ),
        OpCall(
            "pl::mean",
            {
                "input": activation(2, 8),
                "dim": [1],
                "keepdim": False,
                "input_zero_point": 0,
                "output_zero_point": 0,
                "multiplier": 2**30,
                "shift": -2,
            },
            (activation(2, name="y"),),
        ),
        OpCall(
            "pl::softmax",
            {
                "input": activation(2, 8),
                "exp_table": constant([2**23] + [0] * 255, "int32"),
                "dim": 1,
            },
            (activation(2, 8, name="y"),),
        ),
        OpCall(
            "pl::log_softmax",
            {
                "input": activation(2, 8),
                "exp_table": constant([2**23] + [0] * 255, "int32"),
                "dim": 1,
                "fraction_bits": 23,
                "input_multiplier": 2**30,
                "input_shift": -8,
                "log_multiplier": 2**30,
                "log_shift": -2,
                "output_zero_point": 127,
            },
            (activation(2, 8, name="y"),),
        ),
        OpCall(
            "pl::transpose",
            {"input": activation(2, 3), "perm": [1, 0]},
            (activation(3, 2, name="y"),),
        ),
        OpCall(
            "pl::slice",
            {"input": activation(9), "dim": 0, "start": 1, "end": 7, "step": 2},
            (activation(3, name="y"),),
        ),
        OpCall(
            "pl::cat",
            {"inputs": [activation(2, 3), activation(2, 4)], "dim": 1},
            (activation(2, 7, name="y"),),
        ),
        OpCall(
            "pl::pad",
            {"input": activation(2, 3), "padding": [0, 0, 1, 2], "value": 0},
            (activation(2, 6, name="y"),),
        ),
        OpCall(
            "pl::quantize",
            {"input": activation(4, dtype="float32"), "scale": 0.1, "zero_point": 0},
            (activation(4, name="y"),),
        ),
        OpCall(
            "pl::dequantize",
            {"input": activation(4), "scale": 0.1, "zero_point": 0},
            (floats(4, name="y"),),
        ),
        *(
            OpCall(
                f"aten::{name}.out",
                {"self": floats(2, 3), "other": floats(3)},
                (floats(2, 3, name="y"),),
            )
            for name in ("div", "minimum", "maximum")
        ),
        *(
            OpCall(
                f"aten::{name}",
                {"self": floats(2, 8), "dim": [1], "keepdim": False},
                (floats(2, name="y"),),
            )
            for name in ("sum.IntList_out", "amax.out", "amin.out")
        ),
        OpCall(
            "aten::native_layer_norm.out",
            {
                "input": floats(2, 8),
                "normalized_shape": [8],
                "weight": floats(8),
                "bias": None,
                "eps": 1e-5,
            },
            (floats(2, 8, name="y"), floats(2, 1, name="m"), floats(2, 1, name="r")),
        ),
        OpCall(
            "aten::native_group_norm.out",
            {
                "input": floats(1, 4, 3, 3),
                "weight": None,
                "bias": floats(4),
                "N": 1,
                "C": 4,
                "HxW": 9,
                "group": 2,
                "eps": 1e-5,
            },
            (floats(1, 4, 3, 3, name="y"), floats(1, 2, name="m"), floats(1, 2, name="r")),
        ),
        OpCall(
            "aten::bmm.out",
            {
                "self": floats(2, 3, 4),
                "mat2": floats(2, 4, 5),
            },
            (floats(2, 3, 5, name="y"),),
        ),
        OpCall(
            "aten::pow.Tensor_Scalar_out",
            {"self": floats(4), "exponent": 2},
            (floats(4, name="y"),),
        ),
    ]
}
