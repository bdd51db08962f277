# SPDX-License-Identifier: Apache-2.0
"""pl::scatter, scatter_sum and scatter_sum_float: rows to where indices say, in place of a base's
or added up.
"""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import requantize_sums, saturate
from aot.dialect.library import Inferred, define
from aot.dialect.ops.transpose import MOVABLE
from aot.dialect.quantization import ACTIVATION_TYPES, ACTIVATIONS


def _infer(base: torch.Tensor, indices: torch.Tensor, values: torch.Tensor) -> Inferred:
    return tuple(base.shape), base.dtype


@define(
    "Tensor base, Tensor indices, Tensor values",
    infer=_infer,
    dtypes={"base": MOVABLE, "indices": (torch.int32,), "values": MOVABLE},
    shares_quantization=True,
)
def scatter(base: torch.Tensor, indices: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The base with row indices[i] replaced by values[i], one i after the other: the last stays.

    base [rows, width]; indices int32 [count], each in [0, rows); values [count, width].

    Raises:
      IndexError: an index is outside of the base; the kernel returns PL_ERROR_INDEX.
    """
    result = base.clone()
    for index, row in zip(_checked(indices, len(base)), values, strict=True):
        result[index] = row
    return result


def _infer_sum(values: torch.Tensor, indices: torch.Tensor, rows: int, *_: int) -> Inferred:
    return (rows, values.shape[1]), values.dtype


@define(
    "Tensor values, Tensor indices, int rows, int input_zero_point, int output_zero_point, "
    "int multiplier, int shift",
    infer=_infer_sum,
    dtypes={"values": ACTIVATIONS, "indices": (torch.int32,)},
    zero_points={"input_zero_point": "values", "output_zero_point": "output"},
)
def scatter_sum(
    values: torch.Tensor,
    indices: torch.Tensor,
    rows: int,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """Row r is the sum of the values[i] whose indices[i] is r, in int32, requantized once.

    values int8 or int16 [count, width]; indices int32 [count], each in [0, rows); result of their
    dtype [rows, width], of 0 where no index says the row.

    Raises:
      IndexError: an index is not in [0, rows); the kernel returns PL_ERROR_INDEX.
    """
    places = torch.tensor(_checked(indices, rows), dtype=torch.int64)
    sums = torch.zeros(rows, values.shape[1], dtype=torch.int64)
    sums.index_add_(0, places, values.to(torch.int64) - input_zero_point)
    kind = ACTIVATION_TYPES[values.dtype]
    out = requantize_sums(sums, multiplier, shift, values.dtype) + output_zero_point
    return saturate(out, kind.quant_min, kind.quant_max, kind.dtype)


def _infer_float(values: torch.Tensor, indices: torch.Tensor, rows: int) -> Inferred:
    return (rows, values.shape[1]), torch.float32


@define(
    "Tensor values, Tensor indices, int rows",
    infer=_infer_float,
    dtypes={"values": (torch.float32,), "indices": (torch.int32,)},
)
def scatter_sum_float(values: torch.Tensor, indices: torch.Tensor, rows: int) -> torch.Tensor:
    """The same in float32: one value after the other is added to 0."""
    result = torch.zeros(rows, values.shape[1])
    for index, row in zip(_checked(indices, rows), values, strict=True):
        result[index] += row
    return result


def _checked(indices: torch.Tensor, rows: int) -> list[int]:
    places: list[int] = indices.reshape(-1).tolist()
    outside = [index for index in places if not 0 <= index < rows]
    if outside:
        raise IndexError(f"index {outside[0]} is outside of {rows} rows")
    return places
