# SPDX-License-Identifier: Apache-2.0
"""pl::softmax: int8 softmax over one dimension by a table of exponentials."""

from __future__ import annotations

import math

import torch

from aot.dialect.library import define
from aot.dialect.quantization import Quantization
from aot.dialect.transposes import along_dim

OUTPUT = Quantization(1.0 / 256.0, -128)
"""TFLite's quantization of the result."""


def exponential_table(scale: float, length: int, steps: int = 256) -> tuple[torch.Tensor, int]:
    """The table for rows of `length` values of this scale, and its fraction bits.

    Entry d is exp(-d * scale) as a fixed-point number; as many fraction bits as let the sum over a
    row, and the rounded division of an entry times `steps` by it, stay inside uint32.

    Returns:
      (int32 [256], fraction bits)
    """
    bits = 31 - math.ceil(math.log2(max(length, steps)))
    entries = [round(math.exp(-d * scale) * 2**bits) for d in range(256)]
    return torch.tensor(entries, dtype=torch.int32), bits


def exponentials(
    input: torch.Tensor, exp_table: torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """e = exp_table[max - q] along dim, and their sum (kept dimension), int64."""
    x = input.to(torch.int64)
    e = exp_table.to(torch.int64)[x.amax(dim=dim, keepdim=True) - x]
    return e, e.sum(dim=dim, keepdim=True)


def _infer(
    input: torch.Tensor, exp_table: torch.Tensor, dim: int, steps: int
) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(input.shape), torch.int8


@define(
    "Tensor input, Tensor exp_table, int dim, int steps",
    infer=_infer,
    dtypes={"input": (torch.int8,), "exp_table": (torch.int32,)},
    transposes=along_dim("input"),
)
def softmax(input: torch.Tensor, exp_table: torch.Tensor, dim: int, steps: int) -> torch.Tensor:
    """min(127, floor((steps * e + S / 2) / S) - 128) with e = exp_table[max - q], S their sum along
    dim.

    input int8; exp_table int32 [256] from `exponential_table`; dim not negative; result int8 of
    scale 1 / steps and zero_point -128, with 256 steps of the quantization OUTPUT. The table is
    exact to half a unit of 2^-bits, so with 256 steps a row's result is the correctly rounded
    softmax of the dequantized row but for ties within 2^-14 of an LSB.
    """
    e, total = exponentials(input, exp_table, dim)
    out = (e * steps + total // 2) // total - 128
    return out.clamp(max=127).to(torch.int8)
