# SPDX-License-Identifier: Apache-2.0
"""Seeded random values for cases."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from kernels.common.kernel import INT8_MAX, INT8_MIN, INT16_MAX, INT16_MIN, INT32_MAX, AnyArray

_T = TypeVar("_T")


class Values:
    """A stream of values that depends on its seed only."""

    def __init__(self, *seed: int | str) -> None:
        text = "/".join(str(part) for part in seed)
        self._random = np.random.default_rng(list(text.encode()))

    def integer(self, minimum: int, maximum: int) -> int:
        """Return integers uniform in [minimum, maximum]."""
        return int(self._random.integers(minimum, maximum, endpoint=True))

    def choice(self, items: Sequence[_T]) -> _T:
        return items[self.integer(0, len(items) - 1)]

    def int8(self, *shape: int) -> AnyArray:
        """Return int8 uniform over the whole range."""
        return self._random.integers(INT8_MIN, INT8_MAX, shape, np.int8, endpoint=True)

    def extreme_int8(self, *shape: int) -> AnyArray:
        """Return -128 and 127 only."""
        return self._random.choice(np.array([INT8_MIN, INT8_MAX], np.int8), shape)

    def int16(self, *shape: int) -> AnyArray:
        """Return int16 uniform over the whole range."""
        return self._random.integers(INT16_MIN, INT16_MAX, shape, np.int16, endpoint=True)

    def extreme_int16(self, *shape: int) -> AnyArray:
        """Return -32768 and 32767 only."""
        return self._random.choice(np.array([INT16_MIN, INT16_MAX], np.int16), shape)

    def int32(self, magnitude: int, *shape: int) -> AnyArray:
        """Return int32 uniform in [-magnitude, magnitude]."""
        return self._random.integers(-magnitude, magnitude, shape, np.int32, endpoint=True)

    def wide_bias(self, magnitude: int, channels: int) -> AnyArray:
        """Return an int32 bias with a first value that makes its int16 sums exceed 32 bits."""
        bias = self.int32(magnitude, channels)
        bias[0] = INT32_MAX
        return bias

    def float32(self, *shape: int, scale: float = 1.0) -> AnyArray:
        """Return normally distributed float32."""
        return (self._random.standard_normal(shape) * scale).astype(np.float32)

    def of_type(self, dtype: str, *shape: int) -> AnyArray:
        """Return any values of a movable dtype."""
        if dtype == "int8":
            return self.int8(*shape)
        if dtype == "int16":
            return self.int32(INT16_MAX, *shape).astype(np.int16)
        if dtype == "int32":
            return self.int32(INT32_MAX, *shape)
        return self.float32(*shape)

    def zero_points(self) -> Iterator[tuple[str, Callable[[], int]]]:
        """Yield two named ways to draw zero points. With the first, few results saturate."""
        yield "zero points near 0", lambda: self.integer(-20, 20)
        yield "extreme zero points", self.zero_point

    def zero_point(self) -> int:
        """Return a zero point, often an extreme one."""
        return self.choice([INT8_MIN, INT8_MAX, 0, self.integer(INT8_MIN, INT8_MAX)])

    def activation(self) -> tuple[int, int]:
        """Return an activation, mostly over the whole range."""
        return self._limits(INT8_MIN, INT8_MAX)

    def int16_activation(self) -> tuple[int, int]:
        """Return the same of int16."""
        return self._limits(INT16_MIN, INT16_MAX)

    def _limits(self, least: int, greatest: int) -> tuple[int, int]:
        low, high = sorted((self.integer(least, greatest), self.integer(least, greatest)))
        whole = (least, greatest)
        return self.choice([whole, whole, (low, high), (least, high), (low, greatest)])

    def factor(self, expected: float) -> tuple[int, int]:
        """Return a random multiplier and shift within a factor of four around a value."""
        value = expected * 4.0 ** self._random.uniform(-1, 1)
        fraction, shift = math.frexp(value)
        return min(round(fraction * 2**31), 2**31 - 1), max(-31, min(30, shift))

    def factors(self, expected: float, channels: int) -> dict[str, AnyArray]:
        """Return the constants `multiplier` and `shift` of a per-channel requantization."""
        pairs = [self.factor(expected) for _ in range(channels)]
        return {
            "multiplier": np.array([pair[0] for pair in pairs], np.int32),
            "shift": np.array([pair[1] for pair in pairs], np.int32),
        }


def spread(depth: int) -> float:
    """Return the requantization factor from sums of `depth` int8 products to int8's range."""
    return 1.0 / (64.0 * math.sqrt(depth))
