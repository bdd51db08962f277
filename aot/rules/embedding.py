# SPDX-License-Identifier: Apache-2.0
"""aten.embedding to pl::embedding: the table is quantized as its rows are wanted, per tensor."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.library import Op
from aot.dialect.ops.embedding import embedding
from aot.rules.rule import Call, Family, Output, Shares, UnaryRule


class Embedding(UnaryRule):
    """The whole table is observed, not only the rows that calibration asks for."""

    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return embedding

    def emit(self, call: Call) -> Node:
        indices = call.node.args[1]
        assert isinstance(indices, Node)
        return call.emit(embedding, *call.inputs, call.unquantized(indices))


FAMILY = Family({torch.ops.aten.embedding.default: Embedding()})
