# SPDX-License-Identifier: Apache-2.0
"""pl::embedding: rows of a table, by their indices."""

from __future__ import annotations

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.signature import Int32, Movable


def _infer(table: torch.Tensor, indices: torch.Tensor) -> Inferred:
    return (*indices.shape, table.shape[1]), table.dtype


@define(infer=_infer, shares_quantization=True)
def embedding(table: Movable, indices: Int32) -> torch.Tensor:
    """table[i] for each index i.

    table [rows, width]; indices int32 [...], each in [0, rows); result [..., width].

    Raises:
      IndexError: an index is outside of the table; the kernel returns PL_ERROR_INDEX.
    """
    outside = indices[(indices < 0) | (indices >= len(table))]
    if len(outside) > 0:
        raise IndexError(f"index {int(outside[0])} is outside of a table of {len(table)} rows")
    return table[indices.to(torch.int64)]
