# SPDX-License-Identifier: Apache-2.0
"""pl::embedding: rows of a table, by their indices."""

from __future__ import annotations

import torch

from aot.dialect.library import define
from aot.dialect.ops.transpose import MOVABLE


def _infer(table: torch.Tensor, indices: torch.Tensor) -> tuple[tuple[int, ...], torch.dtype]:
    return (*indices.shape, table.shape[1]), table.dtype


@define(
    "Tensor table, Tensor indices",
    infer=_infer,
    dtypes={"table": MOVABLE, "indices": (torch.int32,)},
    shares_quantization=True,
)
def embedding(table: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """table[i] for each index i.

    table [rows, width]; indices int32 [...], each in [0, rows); result [..., width].

    Raises:
      IndexError: an index is outside of the table; the kernel returns PL_ERROR_INDEX.
    """
    outside = indices[(indices < 0) | (indices >= len(table))]
    if len(outside) > 0:
        raise IndexError(f"index {int(outside[0])} is outside of a table of {len(table)} rows")
    return table[indices.to(torch.int64)]
