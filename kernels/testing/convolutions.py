# SPDX-License-Identifier: Apache-2.0
"""Shared by cases of convolutions: windows, constants and attributes."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray
from kernels.testing.case import Case
from kernels.testing.values import Values, spread

Options = Mapping[str, Any]
"""Differences from a plain convolution: attributes, `board`, `dtype`, and `any`: weights may be
-128.
"""

LOWEST = {"output_zero_point": -128, "activation_min": -128, "activation_max": 127}
"""Attributes of a layer with a ReLU."""

WHOLE = {"activation_min": -128, "activation_max": 127}


def convolution(
    name: str,
    op: str,
    shape: tuple[int, ...],
    weight: tuple[int, ...],
    channels: int,
    options: Options,
    values: Values,
    given: Mapping[str, AnyArray] | None = None,
) -> Case:
    """Return a case with random values.

    Args:
      name, op: of the case.
      shape: of the input, NHWC.
      weight: shape of the weights.
      channels: of the output.
      options: see `Options`.
      values: source of all other values.
      given: fixed tensors, not random, by name.
    """
    depth = math.prod(weight) // channels
    wide = options.get("dtype") == "int16"
    low, high = values.int16_activation() if wide else values.activation()
    tensors: dict[str, AnyArray] = {
        "input": values.int16(*shape) if wide else values.int8(*shape),
        "weight": values.int8(*weight),
        "bias": values.int32(64 * depth, channels),
        **values.factors(spread(depth), channels),
        **(given or {}),
    }
    if not (options.get("any") or given):
        tensors["weight"] = np.maximum(tensors["weight"], -127)  # same as the quantizer
    # Attributes of an int8 output stage do not apply to int16.
    not_attributes = {"any", "board", "dtype"} | (set(LOWEST) if wide else set())
    attributes = {
        "stride": [1, 1],
        "padding": [0] * 4,
        "dilation": [1, 1],
        "input_zero_point": 0 if wide else values.zero_point(),
        "output_zero_point": 0 if wide else values.zero_point(),
        "activation_min": low,
        "activation_max": high,
        **{name: value for name, value in options.items() if name not in not_attributes},
    }
    inputs = {"input": tensors.pop("input")}
    return Case(name, op, inputs, tensors, attributes, options.get("board", False))


def random_window(values: Values) -> tuple[tuple[int, int], tuple[int, int], dict[str, Any]]:
    """Return a kernel size, an input size of at least one window, and options."""
    kernel = (values.integer(1, 4), values.integer(1, 4))
    dilation = [values.choice([1, 1, 2, 3]) for _ in range(2)]
    padding = [values.choice([0, 0, 1, 2, 3]) for _ in range(4)]
    reach = [dilation[d] * (kernel[d] - 1) + 1 for d in range(2)]
    least = [max(1, reach[d] - padding[2 * d] - padding[2 * d + 1]) for d in range(2)]
    size = (least[0] + values.integer(0, 5), least[1] + values.integer(0, 5))
    stride = [values.integer(1, 3), values.integer(1, 3)]
    return kernel, size, {"stride": stride, "padding": padding, "dilation": dilation}
