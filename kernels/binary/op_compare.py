# SPDX-License-Identifier: Apache-2.0
"""pl::less and pl::equal: comparisons of values of different scales, exact for int8 by a table."""

from __future__ import annotations

import math
from typing import Annotated

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.quantization import Quantization
from aot.dialect.signature import Activation
from aot.dialect.transposes import elementwise

NOWHERE = 128
"""Entry for a missing integer: no int8 value is equal to it."""


def less_table(of_a: Quantization, of_b: Quantization, or_equal: bool = False) -> torch.Tensor:
    """Return int16 [256]: a's real value is less than b's exactly if a < table[b + 128].

    Args:
      of_a: quantization of a.
      of_b: quantization of b.
      or_equal: the table for less or equal.
    """
    a, b = (of.dequantize(of.every_value()) for of in (of_a, of_b))
    return (torch.searchsorted(a, b, right=or_equal) - 128).to(torch.int16)


def equal_table(of_a: Quantization, of_b: Quantization) -> torch.Tensor:
    """Return int16 [256]: a and b have equal real values exactly if a == table[b + 128]."""
    below, up_to = less_table(of_a, of_b), less_table(of_a, of_b, or_equal=True)
    return torch.where(below < up_to, below, NOWHERE).to(torch.int16)


def factors(of_a: Quantization, of_b: Quantization) -> torch.Tensor:
    """Return int32 [2]: the scales of a and b as integers, the larger in [2^30, 2^31)."""
    fraction, exponent = math.frexp(max(of_a.scale, of_b.scale))
    del fraction
    steps = (round(math.ldexp(of.scale, 31 - exponent)) for of in (of_a, of_b))
    return torch.tensor([min(step, 2**31 - 1) for step in steps], dtype=torch.int32)


def _sides(
    a: torch.Tensor, b: torch.Tensor, table: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the two sides of the comparison, in one type.

    torch does not promote a tensor for an operand of rank 0: int8 with an int16 of rank 0 would
    wrap the 128 of NOWHERE to -128.
    """
    if a.dtype is torch.int16:
        of_a, of_b = table.to(torch.int64)
        return a.to(torch.int64) * of_a, b.to(torch.int64) * of_b
    return a.to(torch.int32), table[b.to(torch.int64) + 128].to(torch.int32)


def _infer(a: torch.Tensor, b: torch.Tensor) -> Inferred:
    return tuple(torch.broadcast_shapes(a.shape, b.shape)), torch.bool


@define(infer=_infer, transposes=elementwise("a", "b"))
def less(
    a: Activation, b: Activation, table: Annotated[torch.Tensor, (torch.int16, torch.int32)]
) -> torch.Tensor:
    """Return True where a is less than b.

    - int8: a < table[b + 128], with a table from `less_table`. It equals torch's
      comparison of the dequantized values.
    - int16: a * table[0] < b * table[1], with a table int32 [2] from `factors`. It is
      exact if both have one scale, else to 2^-30 of the larger value.
    """
    left, right = _sides(a, b, table)
    return left < right


@define(infer=_infer, transposes=elementwise("a", "b"))
def equal(
    a: Activation,
    b: Activation,
    table: Annotated[torch.Tensor, (torch.int16, torch.int32)],
    negated: bool,
) -> torch.Tensor:
    """Return True where a equals b; the reverse if negated.

    - int8: (a == table[b + 128]) != negated, with a table from `equal_table`. It equals
      torch's comparison of the dequantized values.
    - int16: a * table[0] == b * table[1], like pl::less.
    """
    left, right = _sides(a, b, table)
    return (left == right) != negated
