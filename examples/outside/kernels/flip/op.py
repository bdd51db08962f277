# SPDX-License-Identifier: Apache-2.0
"""outside::reverse, a torch op that reverses a dimension, and pl::flip, its int8 form."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.dialect.library import Op, define
from aot.dialect.rule import Call, Output, Shares, UnaryRule, argument
from aot.dialect.signature import Int8
from aot.rules import register


@define(shares_quantization=True)
def flip(input: Int8, dim: int) -> torch.Tensor:
    """Compute output[.., i, ..] = input[.., size - 1 - i, ..] along dim, which is not negative."""
    return input.flip([dim])


@torch.library.custom_op("outside::reverse", mutates_args=())
def reverse(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Return x with a dimension in reversed order."""
    return x.flip([dim])


@reverse.register_fake
def _(x: torch.Tensor, dim: int) -> torch.Tensor:
    return torch.empty_like(x)


class Flip(UnaryRule):
    """Rule for outside::reverse."""

    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return flip

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        return call.emit(flip, x, argument(call.node, "dim") % len(shape_of(x)))


register(Flip(), torch.ops.outside.reverse.default)
