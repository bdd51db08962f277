# SPDX-License-Identifier: Apache-2.0
"""Resize and Upsample of images."""

from __future__ import annotations

import math

import torch.nn.functional as F
from torch import Tensor

from aot.importers.onnx.call import NodeCall, UnsupportedNode
from aot.importers.onnx.registry import function

_HALF_PIXEL = ("half_pixel", "pytorch_half_pixel")
_LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}


@function("Resize")
def resize(call: NodeCall, x: Tensor, *unused: Tensor | None) -> Tensor:
    """`nearest` by whole factors or `asymmetric` with `floor`; `linear` with `half_pixel`,
    `pytorch_half_pixel` or `align_corners`. Constant sizes.
    """
    mode = call.attribute("mode", "nearest")
    if call.opset < 11:
        return _resized(call, x, _scaled(call, x, 1), mode, "asymmetric")
    if call.optional("axes") is not None or call.attribute("antialias", 0):
        raise UnsupportedNode("axes or antialias")
    if call.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise UnsupportedNode("keep_aspect_ratio_policy")
    sizes = call.ints(3) if call.has(3) else _scaled(call, x, 2)
    place = call.attribute("coordinate_transformation_mode", "half_pixel")
    return _resized(call, x, sizes, mode, place)


@function("Upsample")
def upsample(call: NodeCall, x: Tensor, scales: Tensor | None = None) -> Tensor:
    """Like Resize; constant scales."""
    return _resized(call, x, _scaled(call, x, 1), call.attribute("mode", "nearest"), "asymmetric")


def _scaled(call: NodeCall, x: Tensor, index: int) -> list[int]:
    scales = call.numbers(index) if call.has(index) else call.attribute("scales", [1.0])
    if len(scales) != x.dim() or not all(0 < scale < 2**20 for scale in scales):
        raise UnsupportedNode(f"scales {scales}")
    return [math.floor(size * scale) for size, scale in zip(x.shape, scales, strict=True)]


def _resized(call: NodeCall, x: Tensor, sizes: list[int], mode: str, place: str) -> Tensor:
    if len(sizes) != x.dim() or [*x.shape[:2]] != sizes[:2] or not 1 <= x.dim() - 2 <= 3:
        raise UnsupportedNode(f"sizes {sizes} for the shape {[*x.shape]}")
    before, after = [*x.shape[2:]], sizes[2:]
    if before == after:
        return x
    if mode == "nearest":
        whole = all(new % old == 0 for new, old in zip(after, before, strict=True))
        nearest = call.attribute("nearest_mode", "round_prefer_floor")
        is_floor = place == "asymmetric" and (nearest == "floor" or call.opset < 11)
        if is_floor or (whole and place in _HALF_PIXEL):
            return F.interpolate(x, after, mode="nearest")
        raise UnsupportedNode(f"nearest, {place}, {nearest}")
    is_half = place == "half_pixel" or (place == "pytorch_half_pixel" and 1 not in after)
    if mode != "linear" or not (is_half or place == "align_corners"):
        raise UnsupportedNode(f"{mode}, {place}")
    return F.interpolate(x, after, mode=_LINEAR[len(after)], align_corners=not is_half)
