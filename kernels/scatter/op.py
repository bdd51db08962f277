# SPDX-License-Identifier: Apache-2.0
"""pl::scatter, scatter_sum and scatter_sum_float: rows written to indices. They replace rows of a
base, or are added up.
"""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import requantize_sums, saturate
from aot.dialect.library import Inferred, define
from aot.dialect.quantization import ACTIVATION_TYPES
from aot.dialect.signature import Activation, Float32, Int32, Movable


@define(shares_quantization=True)
def scatter(base: Movable, indices: Int32, values: Movable) -> torch.Tensor:
    """Return the base with row indices[i] replaced by values[i], in order of i: the last one stays.

    base [rows, width]; indices int32 [count], each in [0, rows); values [count, width].

    Raises:
      IndexError: an index is outside of the base; the kernel returns PL_ERROR_INDEX.
    """
    result = base.clone()
    for index, row in zip(_checked(indices, len(base)), values, strict=True):
        result[index] = row
    return result


def _infer_sum(values: torch.Tensor, rows: int) -> Inferred:
    return (rows, values.shape[1]), values.dtype


@define(infer=_infer_sum, zero_points={"input_zero_point": "values"})
def scatter_sum(
    values: Activation,
    indices: Int32,
    rows: int,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """Return rows of sums: row r adds values[i] for each i with indices[i] = r.

    Sums are int32 and requantized once. values int8 or int16 [count, width]; indices int32 [count],
    each in [0, rows); result of the values' dtype [rows, width], with 0 for rows without an index.

    Raises:
      IndexError: an index is not in [0, rows); the kernel returns PL_ERROR_INDEX.
    """
    places = torch.tensor(_checked(indices, rows), dtype=torch.int64)
    sums = torch.zeros(rows, values.shape[1], dtype=torch.int64)
    sums.index_add_(0, places, values.to(torch.int64) - input_zero_point)
    kind = ACTIVATION_TYPES[values.dtype]
    out = requantize_sums(sums, multiplier, shift, values.dtype) + output_zero_point
    return saturate(out, kind.quant_min, kind.quant_max, kind.dtype)


def _infer_float(values: torch.Tensor, rows: int) -> Inferred:
    return (rows, values.shape[1]), torch.float32


@define(infer=_infer_float)
def scatter_sum_float(values: Float32, indices: Int32, rows: int) -> torch.Tensor:
    """Return the same in float32: values are added to 0 one after the other."""
    result = torch.zeros(rows, values.shape[1])
    for index, row in zip(_checked(indices, rows), values, strict=True):
        result[index] += row
    return result


def _checked(indices: torch.Tensor, rows: int) -> list[int]:
    places: list[int] = indices.reshape(-1).tolist()
    outside = [index for index in places if not 0 <= index < rows]
    if outside:
        raise IndexError(f"index {outside[0]} is outside the {rows} rows")
    return places
