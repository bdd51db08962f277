# SPDX-License-Identifier: Apache-2.0
"""Bilinear upsampling and downsampling, and linear of one dimension, to pl::resize_bilinear.

Nearest upsampling is a gather.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import NHWC, Edge, shape_of
from aot.dialect.library import Op
from aot.dialect.rule import Call, Family, Output, Shares, UnaryRule, argument
from aot.rules.spatial import to_nchw, to_nhwc
from kernels.resize_bilinear.op import resize_bilinear
from kernels.strided_copy.op_reshape import reshape

_BILINEAR = torch.ops.aten.upsample_bilinear2d.vec
_LINEAR = torch.ops.aten.upsample_linear1d.vec
_LARGEST_DENOMINATOR = 2040
"""Limit for the ratio of sizes: sums of four weighted int8 values fit int32."""


class BilinearUpsampling(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return resize_bilinear

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        shape, result = shape_of(x), tuple(call.node.meta["val"].shape)
        if len(shape) == 3:  # an image of one row
            x = call.emit(reshape, x, [*shape[:2], 1, shape[2]])
        before, after = shape_of(x)[2:], (1, *result[2:])[-2:]
        scales = argument(call.node, "scale_factors") or [None] * (len(shape) - 2)
        corners = bool(argument(call.node, "align_corners"))
        axes = zip(before, after, [None, *scales][-2:], strict=True)
        steps, offsets, units = zip(*(_places(*axis, corners) for axis in axes), strict=True)
        out = call.emit(
            resize_bilinear,
            to_nhwc(call, x),
            list(after),
            list(steps),
            list(offsets),
            list(units),
            edge=Edge(call.output, NHWC),
        )
        out = to_nchw(call, out)
        return out if len(shape) == 4 else call.emit(reshape, out, list(result))


def _places(
    before: int, after: int, scale: float | None, align_corners: bool
) -> tuple[int, int, int]:
    """Return (step, offset, unit): pixel o of the result is at (o * step + offset) / unit of the
    source, as in torch.
    """
    if align_corners:
        ratio = Fraction(before - 1, max(after - 1, 1))
    else:
        ratio = Fraction(before, after) if scale is None else 1 / Fraction(scale)
    ratio = ratio.limit_denominator(_LARGEST_DENOMINATOR)
    # Between the centres of the first pixels.
    offset = Fraction(0) if align_corners else (ratio - 1) / 2
    unit = math.lcm(ratio.denominator, offset.denominator)
    return int(ratio * unit), int(offset * unit), unit


FAMILY = Family(dict.fromkeys((_BILINEAR, _LINEAR), BilinearUpsampling()), kept=(_LINEAR,))
