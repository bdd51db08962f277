# SPDX-License-Identifier: Apache-2.0
"""pl::less and pl::equal: comparisons of int8 values of different scales, exact by a table."""

from __future__ import annotations

import torch

from aot.dialect.library import define
from aot.dialect.quantization import Quantization
from aot.dialect.transposes import elementwise

NOWHERE = 128
"""In place of an integer that does not exist: no int8 value is equal to it."""


def less_table(of_a: Quantization, of_b: Quantization, or_equal: bool = False) -> torch.Tensor:
    """int16 [256]: a stands for less than b does exactly if a < table[b + 128].

    Args:
      of_a: what a stands for.
      of_b: what b stands for.
      or_equal: the table for less or equal.
    """
    a, b = (of.dequantize(of.every_value()) for of in (of_a, of_b))
    return (torch.searchsorted(a, b, right=or_equal) - 128).to(torch.int16)


def equal_table(of_a: Quantization, of_b: Quantization) -> torch.Tensor:
    """int16 [256]: a stands for what b does exactly if a == table[b + 128]."""
    below, up_to = less_table(of_a, of_b), less_table(of_a, of_b, or_equal=True)
    return torch.where(below < up_to, below, NOWHERE).to(torch.int16)


def _infer(
    a: torch.Tensor, b: torch.Tensor, table: torch.Tensor, *_: bool
) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(torch.broadcast_shapes(a.shape, b.shape)), torch.bool


@define(
    "Tensor a, Tensor b, Tensor table",
    infer=_infer,
    dtypes={"a": (torch.int8,), "b": (torch.int8,), "table": (torch.int16,)},
    transposes=elementwise("a", "b"),
)
def less(a: torch.Tensor, b: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """a < table[b + 128], bool: what torch says of the dequantized values, with a table from
    `less_table`.
    """
    return a < table[b.to(torch.int64) + 128]


@define(
    "Tensor a, Tensor b, Tensor table, bool negated",
    infer=_infer,
    dtypes={"a": (torch.int8,), "b": (torch.int8,), "table": (torch.int16,)},
    transposes=elementwise("a", "b"),
)
def equal(a: torch.Tensor, b: torch.Tensor, table: torch.Tensor, negated: bool) -> torch.Tensor:
    """(a == table[b + 128]) != negated, bool: what torch says of the dequantized values, with a
    table from `equal_table`.
    """
    return (a == table[b.to(torch.int64) + 128]) != negated
