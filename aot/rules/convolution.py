# SPDX-License-Identifier: Apache-2.0
"""aten.convolution (2d) to pl::conv2d or pl::depthwise_conv2d."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import NHWC, Edge, quantization_of, tensor_constant
from aot.dialect.library import Op
from aot.dialect.ops.conv2d import conv2d
from aot.dialect.ops.depthwise_conv2d import depthwise_conv2d
from aot.rules.rule import Call, Family, Observed, Output, argument, pair
from aot.rules.spatial import to_nchw, to_nhwc
from aot.rules.weights import quantize_weights


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
        x = self.activations(node)[0].meta["val"]
        groups = int(argument(node, "groups"))
        return depthwise_conv2d if groups > 1 and groups == x.shape[1] else conv2d

    def reject(self, node: Node) -> tuple[str, str] | None:
        rank = len(node.meta["val"].shape)
        if argument(node, "transposed"):
            instead = "nn.Upsample(scale_factor=stride), nearest, then Conv2d"
            if rank == 3:
                instead = "x.unsqueeze(2), nn.Upsample(scale_factor=(1, stride)), then Conv2d"
            return "transposed convolution has no int8 form", instead
        if rank != 4:
            return f"convolution over {rank - 2} dimensions has no int8 form", "Conv1d or Conv2d"
        weight, bias = node.args[1], argument(node, "bias")
        for name, value in (("weight", weight), ("bias", bias)):
            if isinstance(value, Node) and value.op != "get_attr":
                return f"the {name} is computed by the model", f"a constant {name}"
        return None

    def emit(self, call: Call) -> Node:
        node, (x,) = call.node, call.inputs
        stride, dilation = pair(argument(node, "stride")), pair(argument(node, "dilation"))
        vertical, horizontal = pair(argument(node, "padding"))
        padding = [vertical, vertical, horizontal, horizontal]
        groups = int(argument(node, "groups"))
        bias = tensor_constant(call.module, argument(node, "bias"))
        quantized = quantize_weights(call, node.args[1], bias)

        weight = quantized.values.permute(0, 2, 3, 1)  # OIHW -> OHWI
        depthwise = self.op(node) is depthwise_conv2d
        if depthwise:
            weight = weight.squeeze(3).permute(1, 2, 0)  # -> HWO
        tensors = [
            to_nhwc(call, x),
            call.constant("weight", weight),
            call.constant("bias", quantized.bias),
            call.constant("multiplier", quantized.multiplier),
            call.constant("shift", quantized.shift),
        ]
        tail = [quantization_of(x).zero_point, call.output.zero_point, *call.activation_range()]
        edge = Edge(call.output, NHWC)
        if depthwise:
            out = call.emit(depthwise_conv2d, *tensors, stride, padding, dilation, *tail, edge=edge)
        else:
            out = call.emit(conv2d, *tensors, stride, padding, dilation, groups, *tail, edge=edge)
        return to_nchw(call, out)


FAMILY = Family({torch.ops.aten.convolution.default: Convolution()})
