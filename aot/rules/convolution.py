# SPDX-License-Identifier: Apache-2.0
"""Lowering of aten.convolution (2d) to pl::conv2d, pl::depthwise_conv2d or pl::transpose_conv2d."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import NHWC, Edge, quantization_of
from aot.dialect.library import Op
from aot.dialect.quantization import INT8_WEIGHT
from aot.dialect.rule import Call, Family, Observed, Output, argument, pair
from aot.rules.four_bits import emit_four_bits
from aot.rules.spatial import to_nchw, to_nhwc
from aot.rules.weights import constant_of, quantize_weights
from kernels.conv2d.op import conv2d
from kernels.depthwise_conv2d.op import depthwise_conv2d
from kernels.transpose_conv2d.op import transpose_conv2d


class Convolution:
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
        if argument(node, "transposed"):
            return transpose_conv2d
        x = self.activations(node)[0].meta["val"]
        groups = int(argument(node, "groups"))
        return depthwise_conv2d if groups > 1 and groups == x.shape[1] else conv2d

    def reject(self, node: Node) -> tuple[str, str] | None:
        weight, bias = node.args[1], argument(node, "bias")
        for name, value in (("weight", weight), ("bias", bias)):
            if isinstance(value, Node) and value.op != "get_attr":
                return f"the {name} is computed by the model", f"a constant {name}"
        if node.meta["val"].dim() != 4:
            return (
                "its windows overlap along the depth, or it pads that",
                "a stride along the depth that is the kernel's size, and no padding there",
            )
        return None

    def emit(self, call: Call) -> Node:
        node, (x,), op = call.node, call.inputs, self.op(call.node)
        stride, dilation = pair(argument(node, "stride")), pair(argument(node, "dilation"))
        vertical, horizontal = pair(argument(node, "padding"))
        groups = int(argument(node, "groups"))
        bias = constant_of(call.module, node, "bias")
        transposed = op is transpose_conv2d
        arrange = partial(_by_output, groups=groups) if transposed else None
        quantized = quantize_weights(call, node.args[1], bias, arrange)
        if quantized.type is not INT8_WEIGHT:
            edge = Edge(call.output, NHWC)
            return to_nchw(call, emit_four_bits(call, to_nhwc(call, x), quantized, edge))
        weight = quantized.values.permute(0, 2, 3, 1)  # OIHW -> OHWI
        if op is depthwise_conv2d:
            weight = weight.squeeze(3).permute(1, 2, 0)  # -> HWO
        tensors = [
            to_nhwc(call, x),
            call.constant("weight", weight),
            call.constant("bias", quantized.bias),
            call.constant("multiplier", quantized.multiplier),
            call.constant("shift", quantized.shift),
        ]
        if transposed:
            size = [int(s) for s in node.meta["val"].shape[2:]]
            window: list[Any] = [stride, [vertical, horizontal], dilation, size, groups]
        else:
            window = [stride, [vertical, vertical, horizontal, horizontal], dilation]
            if op is conv2d:
                window.append(groups)
        tail = [quantization_of(x).zero_point, call.output.zero_point, *call.activation_range()]
        out = call.emit(op, *tensors, *window, *tail, edge=Edge(call.output, NHWC))
        return to_nchw(call, out)


def _by_output(weight: torch.Tensor, groups: int) -> torch.Tensor:
    """Return a transposed convolution's weight [I, O / groups, H, W] as [O, I / groups, H, W]."""
    grouped = weight.reshape(groups, -1, *weight.shape[1:])
    return grouped.transpose(1, 2).flatten(0, 1)


FAMILY = Family({torch.ops.aten.convolution.default: Convolution()})
