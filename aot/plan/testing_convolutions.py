# SPDX-License-Identifier: Apache-2.0
"""Convolutions, sums and products for test programs: real calls accepted by real kernels."""

import numpy as np

from aot.plan.testing_calls import Calls
from kernels.common.kernel import AnyArray, Value


def pointwise(calls: Calls, x: Value, channels: int) -> Value:
    """Return a 1x1 convolution."""
    weight = np.ones((channels, 1, 1, x.shape[3]), np.int8)
    return convolved(calls, "pl::conv2d", x, weight, channels, 0, groups=1)


def depthwise(calls: Calls, x: Value, stride: int = 1, size: int = 3) -> Value:
    """Return a depthwise convolution with padding."""
    weight = np.ones((size, size, x.shape[3]), np.int8)
    return convolved(calls, "pl::depthwise_conv2d", x, weight, x.shape[3], size // 2, stride=stride)


def convolved(
    calls: Calls,
    op: str,
    x: Value,
    weight: AnyArray,
    channels: int,
    pad: int,
    stride: int = 1,
    **more: int,
) -> Value:
    """Add a convolution. Its result is an image of the same size, or every `stride`th pixel."""

    def constant(array: object, dtype: str) -> Value:
        elements = np.array(array, dtype)
        return Value("constant", dtype, elements.shape, elements)

    n, h, w, _ = x.shape
    return calls.call(
        op,
        (n, (h - 1) // stride + 1, (w - 1) // stride + 1, channels),
        input=x,
        weight=constant(weight, "int8"),
        bias=constant([0] * channels, "int32"),
        multiplier=constant([2**30] * channels, "int32"),
        shift=constant([-7] * channels, "int32"),
        stride=[stride, stride],
        padding=[pad] * 4,
        dilation=[1, 1],
        input_zero_point=0,
        output_zero_point=0,
        activation_min=-128,
        activation_max=127,
        **more,
    )


def added(calls: Calls, a: Value, b: Value) -> Value:
    """Return an addition of two tensors with the same shape."""
    return calls.call(
        "pl::add",
        a.shape,
        a=a,
        b=b,
        a_zero_point=0,
        a_multiplier=2**30,
        a_shift=0,
        b_zero_point=0,
        b_multiplier=2**30,
        b_shift=0,
        left_shift=20,
        output_zero_point=0,
        output_multiplier=2**30,
        output_shift=-18,
        activation_min=-128,
        activation_max=127,
    )


def scaled(calls: Calls, a: Value, b: Value) -> Value:
    """Scale each channel of both inputs by its own factor."""
    return calls.call(
        "pl::mul",
        max(a.shape, b.shape),
        a=a,
        b=b,
        a_zero_point=1,
        b_zero_point=2,
        output_zero_point=3,
        multiplier=2**30,
        shift=-6,
        activation_min=-128,
        activation_max=127,
    )
