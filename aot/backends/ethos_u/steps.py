# SPDX-License-Identifier: Apache-2.0
"""The NPU's own arithmetic, for ops without an equivalent of the CPU's.

Such an op is written once, as steps: TOSA's operators. `TosaGraph` turns the steps into Vela's
input. `Integers` turns them into the op's reference, exact and in torch. TOSA's reference model and
the NPU's functional model verify both forms bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import torch

from aot.backends.ethos_u.block import INT8, INT16, INT32, INT48, Array
from aot.dialect.arithmetic import bit_length


class Shaped(Protocol):
    """Operand of steps."""

    @property
    def shape(self) -> tuple[int, ...]: ...


T = TypeVar("T", bound=Shaped)


class TosaSteps(Protocol[T]):
    """The operators of steps; see `TosaGraph` for their definitions."""

    def constant(self, data: Any, dtype: int) -> T: ...
    def conv2d(self, x: T, weight: Any, bias: Any, zero_point: int) -> T: ...
    def depthwise_conv2d(self, x: T, weight: Any, bias: Any, zero_point: int) -> T: ...
    def biases_of_sums(self, weight: Array, scale: tuple[int, int], wanted: Array) -> Array: ...
    def rescale(
        self,
        x: T,
        multiplier: Any,
        shift: Any,
        dtype: int,
        *,
        input_zero_point: int = 0,
        output_zero_point: int = 0,
    ) -> T: ...
    def clamp(self, x: T, minimum: int, maximum: int) -> T: ...
    def add(self, a: T, b: T) -> T: ...
    def sub(self, a: T, b: T) -> T: ...
    def maximum(self, a: T, b: T) -> T: ...
    def mul(self, a: T, b: T) -> T: ...
    def for_rescale(self, x: T) -> T: ...
    def table(self, x: T, table: Any) -> T: ...
    def entries(self, x: T, table: Any) -> T: ...
    def clz(self, x: T) -> T: ...
    def shift_left(self, a: T, b: T) -> T: ...
    def shift_right(self, a: T, b: T) -> T: ...
    def max_pool2d(
        self, x: T, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]
    ) -> T: ...
    def reduce_max(self, x: T, axis: int) -> T: ...
    def reduce_sum(self, x: T, axis: int) -> T: ...
    def slice(self, x: T, start: Sequence[int], size: Sequence[int]) -> T: ...
    def reshape(self, x: T, shape: Sequence[int]) -> T: ...
    def transpose(self, x: T, perm: Sequence[int]) -> T: ...


_DTYPES = {INT8: torch.int8, INT16: torch.int16, INT32: torch.int32, INT48: torch.int64}
_FRACTION = 7  # bits between two entries of a table
_WORD = 32


class IntegerSteps:
    """Computes steps with tensors; int48 is int64."""

    def constant(self, data: Any, dtype: int) -> torch.Tensor:
        return torch.as_tensor(np.asarray(data)).to(_DTYPES[dtype])

    def conv2d(self, x: torch.Tensor, weight: Any, bias: Any, zero_point: int) -> torch.Tensor:
        """Return the sums of a 1x1 convolution."""
        w = torch.as_tensor(np.asarray(weight)).to(torch.float64)[:, 0, 0, :]
        sums = (x.to(torch.float64) - zero_point) @ w.mT  # exact: below 2^53
        return self._sums(x, sums, bias)

    def depthwise_conv2d(
        self, x: torch.Tensor, weight: Any, bias: Any, zero_point: int
    ) -> torch.Tensor:
        """Return the sums of a depthwise convolution: 1x1, or with a kernel over all rows and
        columns.
        """
        w = torch.as_tensor(np.asarray(weight)).to(torch.float64)[:, :, :, 0]
        products = (x.to(torch.float64) - zero_point) * w
        sums = products if w.shape[:2] == (1, 1) else products.sum((1, 2), keepdim=True)
        return self._sums(x, sums, bias)

    def biases_of_sums(self, weight: Array, scale: tuple[int, int], wanted: Array) -> Array:
        return wanted

    def rescale(
        self,
        x: torch.Tensor,
        multiplier: Any,
        shift: Any,
        dtype: int,
        *,
        input_zero_point: int = 0,
        output_zero_point: int = 0,
    ) -> torch.Tensor:
        multipliers, shifts = (
            torch.as_tensor(np.asarray(v)).to(torch.int64) for v in (multiplier, shift)
        )
        wide = (x.to(torch.int64) - input_zero_point) * multipliers
        scaled = (wide + (torch.ones_like(shifts) << (shifts - 1))) >> shifts
        limits = torch.iinfo(_DTYPES[dtype])
        y = (scaled + output_zero_point).clamp(limits.min, limits.max)
        return y.to(_DTYPES[dtype])

    def clamp(self, x: torch.Tensor, minimum: int, maximum: int) -> torch.Tensor:
        return x.clamp(minimum, maximum)

    def add(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b

    def sub(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a - b

    def maximum(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.maximum(a, b)

    def mul(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a * b

    def table(self, x: torch.Tensor, table: Any) -> torch.Tensor:
        """Return the table values; int16 only."""
        entries = torch.as_tensor(np.asarray(table)).to(torch.int32)
        index = (x.to(torch.int32) + 32768) >> _FRACTION
        rest = x.to(torch.int32) & ((1 << _FRACTION) - 1)
        base = entries[index]
        return (base << _FRACTION) + (entries[index + 1] - base) * rest

    def for_rescale(self, x: torch.Tensor) -> torch.Tensor:
        return x

    def entries(self, x: torch.Tensor, table: Any) -> torch.Tensor:
        return self.rescale(self.table(x, table), *scale32(2.0**-_FRACTION), INT32)

    def clz(self, x: torch.Tensor) -> torch.Tensor:
        """Return the leading zeros of values that are not negative."""
        return (_WORD - bit_length(x.to(torch.int64))).to(torch.int32)

    def shift_left(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a << b

    def shift_right(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a + (torch.ones_like(b) << (b - 1))) >> b

    def max_pool2d(
        self,
        x: torch.Tensor,
        kernel: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
    ) -> torch.Tensor:
        """Return the maximum over a kernel covering a dimension, or one element of it."""
        whole = [1 + d for d in (0, 1) if kernel[d] == x.shape[1 + d]]
        return x.amax(whole, keepdim=True)

    def reduce_max(self, x: torch.Tensor, axis: int) -> torch.Tensor:
        return x.amax(axis, keepdim=True)

    def reduce_sum(self, x: torch.Tensor, axis: int) -> torch.Tensor:
        return x.sum(axis, keepdim=True).to(x.dtype)

    def slice(self, x: torch.Tensor, start: Sequence[int], size: Sequence[int]) -> torch.Tensor:
        for dim, (first, length) in enumerate(zip(start, size, strict=True)):
            x = x.narrow(dim, first, length)
        return x

    def reshape(self, x: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
        return x.reshape(tuple(shape))

    def transpose(self, x: torch.Tensor, perm: Sequence[int]) -> torch.Tensor:
        return x.permute(tuple(perm))

    @staticmethod
    def _sums(x: torch.Tensor, sums: torch.Tensor, bias: Any) -> torch.Tensor:
        total = sums.to(torch.int64) + torch.as_tensor(np.asarray(bias)).to(torch.int64)
        return total.to(torch.int32) if x.dtype is torch.int8 else total


def scale32(factor: float) -> tuple[int, int]:
    """Return multiplier and shift of RESCALE for int8, int16 and int32."""
    return _scale(factor, 31)


def scale16(factor: float) -> tuple[int, int]:
    """Return the same for sums of 48 bits."""
    return _scale(factor, 15)


def _scale(factor: float, bits: int) -> tuple[int, int]:
    mantissa, exponent = np.frexp(factor)
    multiplier, shift = round(float(mantissa) * 2**bits), bits - int(exponent)
    if multiplier == 1 << bits:
        multiplier, shift = multiplier >> 1, shift - 1
    beyond = max(0, shift - 62)
    multiplier, shift = multiplier >> beyond, shift - beyond
    assert shift >= 2, f"a scale of {factor}"
    return multiplier, shift
