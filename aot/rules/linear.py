# SPDX-License-Identifier: Apache-2.0
"""Lowering of aten.linear to pl::linear."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import Edge, quantization_of
from aot.dialect.library import Op
from aot.dialect.quantization import INT8_WEIGHT
from aot.dialect.rule import Call, Family, Observed, Output, argument
from aot.rules.four_bits import emit_four_bits
from aot.rules.weights import constant_of, quantize_weights
from kernels.linear.op import linear


class Linear:
    output: ClassVar[Output] = Observed()
    fuses_clamp: ClassVar[bool] = True

    def activations(self, node: Node) -> list[Node]:
        x = node.args[0]
        assert isinstance(x, Node)
        return [x]

    def weights(self, node: Node) -> Node | None:
        weight = node.args[1]
        assert isinstance(weight, Node)
        return weight

    def op(self, node: Node) -> Op:
        return linear

    def reject(self, node: Node) -> tuple[str, str] | None:
        for name in ("weight", "bias"):
            value = argument(node, name)
            if isinstance(value, Node) and value.op != "get_attr":
                return f"the {name} is computed by the model", f"a constant {name}"
        return None

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        bias = constant_of(call.module, call.node, "bias")
        quantized = quantize_weights(call, call.node.args[1], bias)
        if quantized.type is not INT8_WEIGHT:
            return emit_four_bits(call, x, quantized, Edge(call.output))
        return call.emit(
            linear,
            x,
            call.constant("weight", quantized.values),
            call.constant("bias", quantized.bias),
            call.constant("multiplier", quantized.multiplier),
            call.constant("shift", quantized.shift),
            quantization_of(x).zero_point,
            call.output.zero_point,
            *call.activation_range(),
        )


_LINEAR = torch.ops.aten.linear.default
FAMILY = Family({_LINEAR: Linear()}, kept=(_LINEAR,))
