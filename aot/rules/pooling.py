# SPDX-License-Identifier: Apache-2.0
"""Pooling to pl::max_pool2d, avg_pool2d, adaptive_max_pool2d and adaptive_avg_pool2d (1d pools
arrive as 2d ones).
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import NHWC, Edge, quantization_of
from aot.dialect.library import Op
from aot.dialect.ops.adaptive_avg_pool2d import adaptive_avg_pool2d
from aot.dialect.ops.adaptive_max_pool2d import adaptive_max_pool2d
from aot.dialect.ops.avg_pool2d import avg_pool2d
from aot.dialect.ops.max_pool2d import max_pool2d
from aot.dialect.results import taken_from
from aot.rules.rule import Call, Family, Output, Shares, UnaryRule, argument, pair
from aot.rules.spatial import to_nchw, to_nhwc

_MAX = torch.ops.aten.max_pool2d.default
_AVG = torch.ops.aten.avg_pool2d.default
_ADAPTIVE_AVG = torch.ops.aten.adaptive_avg_pool2d.default
_ADAPTIVE_MAX = torch.ops.aten.adaptive_max_pool2d.default


class Pooling(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        call, _ = taken_from(node)
        if call.target in (_MAX, _AVG):
            return max_pool2d if call.target is _MAX else avg_pool2d
        before = self.activations(node)[0].meta["val"].shape[2:]
        after = node.meta["val"].shape[2:]
        whole = not any(a % b for a, b in zip(before, after, strict=True))
        if call.target is _ADAPTIVE_MAX:
            return max_pool2d if whole else adaptive_max_pool2d
        return avg_pool2d if whole else adaptive_avg_pool2d

    def reject(self, node: Node) -> tuple[str, str] | None:
        if len(node.meta["val"].shape) != 4:
            return "pooling without a batch dimension has no int8 form", "unsqueeze(0) before it"
        return None

    def emit(self, call: Call) -> Node:
        node, _ = taken_from(call.node)
        x = to_nhwc(call, call.inputs[0])
        edge = Edge(call.output, NHWC)
        _, height, width, _ = x.meta["val"].shape
        out_h, out_w = (int(s) for s in call.node.meta["val"].shape[2:])
        op = self.op(call.node)
        if op in (adaptive_max_pool2d, adaptive_avg_pool2d):
            return to_nchw(call, call.emit(op, x, [out_h, out_w], edge=edge))
        if node.target not in (_MAX, _AVG):
            kernel = [height // out_h, width // out_w]
            stride, padding = kernel, [0, 0, 0, 0]
        else:
            kernel = pair(argument(node, "kernel_size"))
            stride = pair(argument(node, "stride") or kernel)
            vertical, horizontal = pair(argument(node, "padding"))
            padding = [vertical, vertical, horizontal, horizontal]
        if op is max_pool2d:
            dilation = pair(argument(node, "dilation")) if node.target is _MAX else [1, 1]
            window = (kernel, stride, padding, dilation, [out_h, out_w])
            return to_nchw(call, call.emit(max_pool2d, x, *window, edge=edge))
        include_pad, override = True, 0
        if node.target is _AVG:
            include_pad = bool(argument(node, "count_include_pad"))
            override = int(argument(node, "divisor_override") or 0)
        zero_point = quantization_of(x).zero_point
        args = (kernel, stride, padding, [out_h, out_w], include_pad, override, zero_point)
        return to_nchw(call, call.emit(avg_pool2d, x, *args, edge=edge))


RULE = Pooling()
FAMILY = Family(
    dict.fromkeys((_MAX, _AVG, _ADAPTIVE_AVG), RULE),
    kept=(_MAX, _ADAPTIVE_AVG),
    results={_ADAPTIVE_MAX: (RULE,)},
)
