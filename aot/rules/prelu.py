# SPDX-License-Identifier: Apache-2.0
"""aten.prelu with a slope for each channel to pl::prelu; with one slope it is a function of one
value.
"""

from __future__ import annotations

import torch
from torch.fx import Node

from aot.dialect.arithmetic import sums_multiplier
from aot.dialect.graph import quantization_of, shape_of, tensor_constant
from aot.dialect.library import Op
from aot.dialect.ops.prelu import prelu
from aot.dialect.quantization import INT8_WEIGHT
from aot.rules.rule import Call, Family, UnaryRule

_LARGEST = INT8_WEIGHT.quant_max
_FINEST = 2**20  # steps for a slope of 1


class Prelu(UnaryRule):
    def op(self, node: Node) -> Op:
        return prelu

    def reject(self, node: Node) -> tuple[str, str] | None:
        slopes = _slopes(node.graph.owning_module, node)
        if slopes is None:
            return "its slopes are computed", "torch.relu(x) - k * torch.relu(-x)"
        if float(slopes.abs().max()) > _LARGEST:
            return f"a slope is beyond {_LARGEST}", "smaller slopes"
        return None

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        slopes = _slopes(call.module, call.node)
        assert slopes is not None
        kind = call.output.type
        one = int(min(kind.quant_max / max(float(slopes.abs().max()), 1e-9), _FINEST))
        steps = (slopes * one).round().to(kind.dtype)
        behind = [1] * max(len(shape_of(x)) - 2, 0)  # the channels are dimension 1
        return call.emit(
            prelu,
            x,
            call.constant("slope", steps.reshape(-1, *behind)),
            quantization_of(x).zero_point,
            one,
            call.output.zero_point,
            *sums_multiplier(
                quantization_of(x).scale / (one * call.output.scale), call.output.type.dtype
            ),
        )


def _slopes(module: torch.fx.GraphModule | None, node: Node) -> torch.Tensor | None:
    return None if module is None else tensor_constant(module, node.args[1])


FAMILY = Family(
    dict.fromkeys((torch.ops.aten.prelu.default, torch.ops.aten._prelu_kernel.default), Prelu())
)
