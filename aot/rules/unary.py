# SPDX-License-Identifier: Apache-2.0
"""Functions of one value to pl::lut: the table is the float function itself, evaluated by torch on
the 256 inputs.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import Node

from aot.dialect.graph import quantization_of
from aot.dialect.library import Op
from aot.dialect.ops.lut import lut
from aot.dialect.quantization import Quantization
from aot.rules.function import Roots, evaluate, function_root
from aot.rules.rule import Call, Fixed, Output, UnaryRule, as_clamp

# TFLite's output quantization of functions whose range is known; a finer one where calibration
# shows only a part of it.
_FIXED = {
    torch.ops.aten.sigmoid.default: Fixed(Quantization(1.0 / 256.0, -128), finer=True),
    torch.ops.aten.hardsigmoid.default: Fixed(Quantization(1.0 / 256.0, -128), finer=True),
    torch.ops.aten.tanh.default: Fixed(Quantization(1.0 / 128.0), finer=True),
}


class Unary(UnaryRule):
    def __init__(self, output: Output) -> None:
        self.output = output  # type: ignore[misc]

    def activations(self, node: Node) -> list[Node]:
        root = function_root(node)
        return [root] if root is not None else super().activations(node)

    def op(self, node: Node) -> Op:
        return lut

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs

        def function(values: torch.Tensor) -> torch.Tensor:
            return evaluate(call.module, call.node, values)

        table = table_of(function, quantization_of(x), call.output)
        return call.emit(lut, x, call.constant("table", table))


def table_of(
    function: Callable[[torch.Tensor], torch.Tensor], source: Quantization, result: Quantization
) -> torch.Tensor:
    """int8 [256]: quantize(function(dequantize(q))) for every int8 q, in float32 as torch computes
    it.

    Where the function is not defined (NaN) the entry is the output's zero_point; infinities
    saturate.
    """
    return result.quantize(function(source.dequantize(source.every_value())))


_RULE = Unary(UnaryRule.output)
_FIXED_RULES: dict[object, Unary] = {target: Unary(fixed) for target, fixed in _FIXED.items()}


def unary_rule(node: Node, roots: Roots | None) -> Unary | None:
    """The rule of a function of one value, or of a clamp (which its producer may fuse); None
    otherwise. `roots`: the function roots up to the node, where they are known.
    """
    root = function_root(node) if roots is None else roots.get(node)
    if root is None:
        return _RULE if as_clamp(node) is not None else None
    return _FIXED_RULES.get(node.target, _RULE)
