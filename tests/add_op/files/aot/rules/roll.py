# SPDX-License-Identifier: Apache-2.0
"""aten.roll to pl::roll."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.dialect.library import Op
from aot.dialect.ops.roll import roll
from aot.rules.rule import Call, Family, Output, Shares, UnaryRule, argument

_ROLL = torch.ops.aten.roll.default


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


FAMILY = Family({_ROLL: Roll()}, kept=(_ROLL,))
