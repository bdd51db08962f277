# SPDX-License-Identifier: Apache-2.0
"""Tensors and arguments shared by the calls of several ops."""

from typing import Any

import numpy as np

from kernels.common.kernel import Value
from kernels.testing.values import Values, spread

STAGE = {"output_zero_point": 0, "activation_min": -128, "activation_max": 127}
"""The end of an int8 op without a clamp."""

INT16_STAGE = {"output_zero_point": 0, "activation_min": -(2**15), "activation_max": 2**15 - 1}
"""The same of int16."""

AFTER_RELU = {"output_zero_point": -128, "activation_min": -128, "activation_max": 127}
"""After a ReLU the whole range is the activation's."""

WINDOW = {"stride": [1, 1], "padding": [0] * 4, "dilation": [1, 1], "input_zero_point": 0}


def activation(*shape: int, dtype: str = "int8", name: str = "x") -> Value:
    return Value(name, dtype, shape)


def floats(*shape: int, name: str = "x") -> Value:
    return activation(*shape, dtype="float32", name=name)


def constant(array: Any, dtype: str = "int8") -> Value:
    elements = np.array(array, dtype)
    return Value("constant", dtype, elements.shape, elements)


def per_channel(count: int) -> dict[str, Value]:
    """Return the constants of a requantization per channel."""
    return {
        "bias": constant([0] * count, "int32"),
        "multiplier": constant([2**30] * count, "int32"),
        "shift": constant([-7] * count, "int32"),
    }


def weights(shape: tuple[int, ...], count: int, depth: int) -> dict[str, Value]:
    """Return random weights of `count` channels, sums of `depth` products each, and matching
    constants.

    Few results saturate.
    """
    values = Values("bench", count, depth)
    weight, bias = values.int8(*shape), values.int32(64 * depth, count)
    weight = np.maximum(weight, -127)  # the quantizer's are symmetric
    arrays = {"weight": weight, "bias": bias, **values.factors(spread(depth), count)}
    return {name: Value(name, a.dtype.name, a.shape, a) for name, a in arrays.items()}
