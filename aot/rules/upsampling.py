# SPDX-License-Identifier: Apache-2.0
"""Nearest upsampling by whole factors: every row, then every column, concatenated with itself."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import NHWC, Edge, shape_of, with_layout
from aot.dialect.library import Op
from aot.dialect.ops.cat import cat
from aot.dialect.ops.reshape import reshape
from aot.rules.rule import Call, Family, Output, Shares, UnaryRule
from aot.rules.spatial import to_nchw, to_nhwc


class NearestUpsampling(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return cat

    def reject(self, node: Node) -> tuple[str, str] | None:
        before, after = self.activations(node)[0].meta["val"].shape, node.meta["val"].shape
        if any(a % b for a, b in zip(after[2:], before[2:], strict=True)):
            return "nearest upsampling by a fraction has no int8 form", "a whole scale_factor"
        return None

    def emit(self, call: Call) -> Node:
        x = to_nhwc(call, call.inputs[0])
        n, h, w, c = shape_of(x)
        out_h, out_w = (int(s) for s in call.node.meta["val"].shape[2:])
        edge = Edge(call.output)

        def repeated(x: Node, outer: int, inner: int, times: int) -> Node:
            """[outer, inner] -> [outer, times * inner]."""
            if times == 1:
                return x
            rows = call.emit(reshape, x, [outer, inner], edge=edge)
            return call.emit(cat, [rows] * times, 1, edge=edge)

        x = repeated(x, n * h, w * c, out_h // h)
        x = repeated(x, n * out_h * w, c, out_w // w)
        shape = [n, out_h, out_w, c]
        return to_nchw(call, call.emit(reshape, x, shape, edge=with_layout(edge, NHWC)))


FAMILY = Family({torch.ops.aten.upsample_nearest2d.vec: NearestUpsampling()})
