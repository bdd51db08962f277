# SPDX-License-Identifier: Apache-2.0
"""pl::flip, which Pilotlight does not have: the order of a dimension reversed."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.dialect.library import Op, define
from aot.rules import register
from aot.rules.rule import Call, Output, Shares, UnaryRule, argument


def _infer(input: torch.Tensor, dim: int) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(input.shape), torch.int8


@define(
    "Tensor input, int dim", infer=_infer, dtypes={"input": (torch.int8,)}, shares_quantization=True
)
def flip(input: torch.Tensor, dim: int) -> torch.Tensor:
    """output[.., i, ..] = input[.., size - 1 - i, ..] along dim, which is not negative."""
    return input.flip([dim])


class Flip(UnaryRule):
    """aten.flip of one dimension."""

    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return flip

    def reject(self, node: Node) -> tuple[str, str] | None:
        if len(argument(node, "dims")) != 1:
            return "it flips several dimensions", "one flip for each"
        return None

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        (dim,) = argument(call.node, "dims")
        return call.emit(flip, x, dim % len(shape_of(x)))


register(Flip(), torch.ops.aten.flip.default)
