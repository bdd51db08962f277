# SPDX-License-Identifier: Apache-2.0
"""Random numbers for cases: scales, zero points, integers, windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aot.importers.tflite.testing.build import File, Quantized

Random = np.random.Generator
SAME, VALID = 0, 1
NONE, RELU, RELU_N1_TO_1, RELU6, TANH = 0, 1, 2, 3, 4
ACTIVATIONS = (NONE, RELU, RELU_N1_TO_1, RELU6)


def scale(random: Random, low: float = 0.002, high: float = 0.2) -> float:
    return float(np.float32(np.exp(random.uniform(np.log(low), np.log(high)))))


def quantized(random: Random, dtype: Any = np.int8) -> Quantized:
    """Draw a quantization. Both types draw the same numbers, so cases of one seed are alike."""
    wide = dtype == np.int16
    of = scale(random, 1e-5, 1e-3) if wide else scale(random)
    zero_point = int(random.integers(-128, 128))
    return of, 0 if wide else zero_point


def integers(random: Random, shape: Sequence[int], low: int = -127, high: int = 127) -> Any:
    return random.integers(low, high, tuple(shape), np.int64, endpoint=True)


def some(random: Random, options: Sequence[Any]) -> Any:
    return options[int(random.integers(len(options)))]


def steps(random: Random) -> dict[str, int]:
    dilated = random.integers(3) == 0
    low, high = (1, 2) if dilated else (1, 3)
    return {
        "strideH": 1 if dilated else int(random.integers(low, high + 1)),
        "strideW": 1 if dilated else int(random.integers(low, high + 1)),
        "dilationHFactor": int(random.integers(1, 4)) if dilated else 1,
        "dilationWFactor": int(random.integers(1, 4)) if dilated else 1,
    }


def extent(size: int, taps: int, stride: int, dilation: int, padding: int) -> int:
    if padding == SAME:
        return -(-size // stride)
    return (size - (taps - 1) * dilation - 1) // stride + 1


Case = Callable[[Random], File]
