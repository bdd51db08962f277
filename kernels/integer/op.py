# SPDX-License-Identifier: Apache-2.0
"""pl::integer_add and similar ops: arithmetic and comparisons of indices, which are not quantized;
conversion from quantized values to integers, and back.

Operands are int32 and broadcast; results beyond int32 keep their low 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import torch

from aot.dialect.arithmetic import requantize, saturate
from aot.dialect.library import Inferred, Op, broadcast, define, reduced_shape
from aot.dialect.quantization import INT8, INT16, QuantizedType
from aot.dialect.signature import Int8, Int32
from aot.dialect.transposes import elementwise


def _binary(
    name: str,
    function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    dtype: torch.dtype = torch.int32,
) -> Op:
    """Return the op of a function of int64 tensors."""

    def infer(a: torch.Tensor, b: torch.Tensor) -> Inferred:
        return tuple(torch.broadcast_shapes(a.shape, b.shape)), dtype

    def reference(a: Int32, b: Int32) -> torch.Tensor:
        return function(a.to(torch.int64), b.to(torch.int64)).to(dtype)

    reference.__name__ = f"integer_{name}"
    return define(infer=infer, transposes=elementwise("a", "b"))(reference)


def _divide(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    quotient = torch.div(a, torch.where(b == 0, 1, b), rounding_mode="floor")
    return torch.where(b == 0, 0, quotient)


def _modulo(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.where(b == 0, 0, torch.remainder(a, torch.where(b == 0, 1, b)))


integer_add = _binary("add", torch.add)
integer_sub = _binary("sub", torch.sub)
integer_mul = _binary("mul", torch.mul)
integer_minimum = _binary("minimum", torch.minimum)
integer_maximum = _binary("maximum", torch.maximum)
integer_divide = _binary("divide", _divide)
"""a / b, rounded towards minus infinity; 0 where b is 0."""
integer_modulo = _binary("modulo", _modulo)
"""a - b * (a / b), with the quotient of integer_divide, hence with b's sign; 0 where b is 0."""
integer_and = _binary("and", torch.bitwise_and)
"""Bitwise AND of a and b."""
integer_less = _binary("less", torch.lt, torch.bool)
integer_equal = _binary("equal", torch.eq, torch.bool)


@define(infer=broadcast, transposes=elementwise("a", "b"))
def integer_place(a: Int32, b: Int32, rows: int, columns: int) -> torch.Tensor:
    """Return a * columns + b, the index of row a and column b in a table.

    It is -1 if there is no such row or column. Every op with indices reports -1 as outside.
    """
    a, b = a.to(torch.int64), b.to(torch.int64)
    inside = (a >= 0) & (a < rows) & (b >= 0) & (b < columns)
    return torch.where(inside, a * columns + b, -1).to(torch.int32)


def _infer_sum(input: torch.Tensor, dim: Sequence[int], keepdim: bool) -> Inferred:
    return reduced_shape(input.shape, dim, keepdim), torch.int32


@define(infer=_infer_sum)
def integer_sum(
    input: Annotated[torch.Tensor, (torch.int32, torch.int16, torch.bool)],
    dim: Sequence[int],
    keepdim: bool,
) -> torch.Tensor:
    """Return the sum over dim; none is negative.

    For a mask it is the count of true elements; for int16 the sum of integer inputs.
    """
    total = input.to(torch.int64).sum(list(dim), keepdim) if dim else input.to(torch.int64)
    return total.to(torch.int32)


def _infer_lut(input: torch.Tensor) -> Inferred:
    return tuple(input.shape), torch.int32


@define(infer=_infer_lut, transposes=elementwise("input"))
def integer_lut(input: Int8, table: Int32) -> torch.Tensor:
    """Return table[input + 128], with a table [256]: a pointwise function with integer results."""
    return table[input.to(torch.int64) + 128]


def _infer_quantize(input: torch.Tensor, bits: int) -> Inferred:
    return tuple(input.shape), _of_bits(bits).dtype


def _of_bits(bits: int) -> QuantizedType:
    return INT16 if bits == 16 else INT8


@define(infer=_infer_quantize, transposes=elementwise("input"))
def integer_quantize(
    input: Int32, output_zero_point: int, multiplier: int, shift: int, bits: int
) -> torch.Tensor:
    """Return saturate(requantize(input, multiplier, shift) + output_zero_point).

    It quantizes an integer to int8 or int16; bits is 8 or 16. multiplier and shift hold the
    reciprocal of the scale.
    """
    out, kind = requantize(input.to(torch.int64), multiplier, shift), _of_bits(bits)
    return saturate(out + output_zero_point, kind.quant_min, kind.quant_max, kind.dtype)


def _infer_to_float(input: torch.Tensor) -> Inferred:
    return tuple(input.shape), torch.float32


@define(infer=_infer_to_float, transposes=elementwise("input"))
def integer_to_float(input: Int32) -> torch.Tensor:
    """Return the nearest float32, ties to even."""
    return input.to(torch.float32)
