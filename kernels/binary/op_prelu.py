# SPDX-License-Identifier: Apache-2.0
"""pl::prelu: values, the negative ones times a slope, with broadcasting.

Lowers aten.prelu with a slope for each channel. One slope makes it a pointwise function.
"""

from __future__ import annotations

import torch
from torch.fx import Node

from aot.dialect.arithmetic import requantize_sums, saturate, sums_multiplier
from aot.dialect.graph import quantization_of, shape_of, tensor_constant
from aot.dialect.library import Inferred, Op, define
from aot.dialect.quantization import ACTIVATION_TYPES, INT8_WEIGHT
from aot.dialect.rule import Call, Example, Family, UnaryRule
from aot.dialect.signature import Activation
from aot.dialect.transposes import elementwise

_LARGEST = INT8_WEIGHT.quant_max
_FINEST = 2**20  # steps for a slope of 1


def _infer(input: torch.Tensor, slope: torch.Tensor) -> Inferred:
    return tuple(torch.broadcast_shapes(input.shape, slope.shape)), input.dtype


@define(infer=_infer, transposes=elementwise("input", "slope"))
def prelu(
    input: Activation,
    slope: Activation,
    input_zero_point: int,
    one: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """Return saturate(requantize(x * (one if x > 0 else slope), multiplier, shift) +
    output_zero_point).

    x = input - input_zero_point. input, slope and result are int8 or int16. Products of int16
    values exceed int32: they use requantize_wide.

    The integer `one` is a slope of 1: slopes have the scale 1 / one. multiplier and shift hold
    input_scale / (one * output_scale).
    """
    x = input.to(torch.int64) - input_zero_point
    product = x * torch.where(x > 0, one, slope.to(torch.int64))
    out = requantize_sums(product, multiplier, shift, input.dtype) + output_zero_point
    kind = ACTIVATION_TYPES[input.dtype]
    return saturate(out, kind.quant_min, kind.quant_max, kind.dtype)


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


_PRELU, _KERNEL = torch.ops.aten.prelu.default, torch.ops.aten._prelu_kernel.default
FAMILY = Family(
    dict.fromkeys((_PRELU, _KERNEL), Prelu()),
    examples=[
        Example(
            lambda x: torch.prelu(x, x.new_tensor([32 / 127, -64 / 127, 1.0, 0.0])),
            (1, 4, 3, 3),
            {"prelu": 1},
        )
    ],
)
