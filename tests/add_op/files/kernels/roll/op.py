# SPDX-License-Identifier: Apache-2.0
"""pl::roll: values shifted along a dimension; those that leave it come in at its other end. Of
aten.roll along one dimension.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.dialect.library import Op, define
from aot.dialect.rule import Call, Example, Family, Output, Shares, UnaryRule, argument
from aot.dialect.signature import Int8
from aot.dialect.transposes import along_dim

_ROLL = torch.ops.aten.roll.default


@define(shares_quantization=True, transposes=along_dim("input"))
def roll(input: Int8, shift: int, dim: int) -> torch.Tensor:
    """Place i of the result is place (i - shift) mod size of the input; 0 <= shift < size."""
    return torch.roll(input, shift, dim)


class Roll(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return roll

    def reject(self, node: Node) -> tuple[str, str] | None:
        if len(argument(node, "dims")) != 1:
            return "it rolls along no dimension or several", "a roll along each dimension"
        return None

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        (shift,), (dim,) = argument(call.node, "shifts"), argument(call.node, "dims")
        dim %= len(shape_of(x))
        return call.emit(roll, x, shift % shape_of(x)[dim], dim)


FAMILY = Family(
    {_ROLL: Roll()},
    kept=(_ROLL,),
    examples=[Example(lambda x: torch.roll(x, 2, 1), (1, 4, 6, 6), {"roll": 1})],
)
