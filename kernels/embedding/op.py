# SPDX-License-Identifier: Apache-2.0
"""pl::embedding: rows of a table, by their indices.

Of aten.embedding: the table is quantized as its rows are wanted, per tensor.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.library import Inferred, Op, define
from aot.dialect.rule import Call, Family, Output, Shares, UnaryRule
from aot.dialect.signature import Int32, Movable


def _infer(table: torch.Tensor, indices: torch.Tensor) -> Inferred:
    return (*indices.shape, table.shape[1]), table.dtype


@define(infer=_infer, shares_quantization=True)
def embedding(table: Movable, indices: Int32) -> torch.Tensor:
    """Return table[i] for each index i.

    table [rows, width]; indices int32 [...], each in [0, rows); result [..., width].

    Raises:
      IndexError: an index is outside of the table; the kernel returns PL_ERROR_INDEX.
    """
    outside = indices[(indices < 0) | (indices >= len(table))]
    if len(outside) > 0:
        raise IndexError(f"index {int(outside[0])} is outside the table of {len(table)} rows")
    return table[indices.to(torch.int64)]


class Embedding(UnaryRule):
    """Rule for embeddings. It observes the whole table, including rows that calibration does not
    read.
    """

    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return embedding

    def emit(self, call: Call) -> Node:
        indices = call.node.args[1]
        assert isinstance(indices, Node)
        return call.emit(embedding, *call.inputs, call.unquantized(indices))


FAMILY = Family({torch.ops.aten.embedding.default: Embedding()})
